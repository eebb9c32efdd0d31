local mai = require "maishell"

mai.test("hides secrets and leaves the rest", function(t)
  t.equal(t.mask("key=sk_live_" .. ("a1"):rep(12) .. " ok"), "key=sk_*** ok")
  t.equal(t.mask("dop_v1_" .. ("0f"):rep(32)), "dop_v1_***")
  t.equal(t.mask("hf_" .. ("Ab"):rep(17)), "hf_***")
  t.equal(t.mask("https://hooks.slack.com/services/T000/B000/" .. ("x"):rep(24)), "https://hooks.slack.com/services/***")
  t.equal(t.mask("sk_live_short hf_x shelf_ pypi-server"), "sk_live_short hf_x shelf_ pypi-server")
end)
