local mai = require "maishell"

mai.test("counts callers apart and begins anew", function(t)
  t.at("2026-12-04 10:00")
  for i = 1, 30 do
    t.equal(t.exec("ls", { id = "a" .. i }).verdict, "allow", "call " .. i)
  end
  t.equal(t.exec("ls", { id = "a31" }).verdict, "deny")
  t.equal(t.exec("ls", { id = "a30" }).verdict, "allow", "the same call again")
  t.equal(t.exec("ls", { id = "b1", user_id = "2" }).verdict, "allow", "somebody else")
  t.at("2026-12-04 10:01")
  t.equal(t.exec("ls", { id = "a32" }).verdict, "allow", "a minute later")
end)
