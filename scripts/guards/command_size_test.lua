local mai = require "maishell"

mai.test("denies what is too much", function(t)
  t.equal(t.exec("echo " .. ("x"):rep(4100)).verdict, "deny")
  t.equal(t.exec(("true;"):rep(41)).verdict, "deny")
  t.equal(t.exec(("true;"):rep(40)).verdict, "allow")
  t.equal(t.exec("ls -l").verdict, "allow")
end)
