local mai = require "maishell"

mai.test("asks outside the hours only", function(t)
  for at, want in pairs {
    ["2026-12-04 08:59"] = "confirm", -- a Friday
    ["2026-12-04 09:00"] = "allow",
    ["2026-12-04 17:59"] = "allow",
    ["2026-12-04 18:00"] = "confirm",
    ["2026-12-05 12:00"] = "confirm", -- Saturday
    ["2026-12-06 12:00"] = "confirm",
    ["2026-12-07 12:00"] = "allow",
  } do
    t.at(at)
    t.equal(t.exec("ls").verdict, want, at)
  end
end)
