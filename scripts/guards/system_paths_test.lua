local mai = require "maishell"

mai.test("denies what the text shows", function(t)
  for _, command in ipairs {
    "echo x > /etc/motd", "echo x >>/etc/../etc/motd", "ls | tee /usr/bin/x", "cp a.conf /etc/a.conf", "rm -rf /usr/lib/x",
    "cp -t /etc a b", "sed -i s/a/b/ /etc/hosts", "dd if=a of=/dev/sda", "sudo touch /etc/x", "sh -c 'echo x > /boot/x'",
    "cd /tmp && mv a /sbin/a", "install -m 755 a //usr//sbin/a",
  } do
    t.equal(t.exec(command).verdict, "deny", command)
  end
  t.equal(t.exec("touch hosts", { cwd = "/etc" }).verdict, "deny", "relative")
end)

mai.test("leaves the rest alone", function(t)
  for _, command in ipairs {
    "cat /etc/hosts", "cp /etc/hosts /tmp/hosts", "echo x > /dev/null", "sed s/a/b/ /etc/hosts", "make 2>&1 | tee log",
    "echo x > /usr/local/etc/x", "rm -rf /tmp/etc", "touch /etcetera",
  } do
    t.equal(t.exec(command, { cwd = "/home/a" }).verdict, "allow", command)
  end
end)

mai.test("write_file", function(t)
  t.equal(t.tool("write_file", { writes = { "/etc/passwd" } }).verdict, "deny")
  t.equal(t.tool("write_file", { writes = { "/home/a/x" } }).verdict, "allow")
end)
