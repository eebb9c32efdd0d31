-- Every caller may run so many commands in a minute; more are denied. What is counted is kept in memory: a restart
-- begins anew.
local mai = require "maishell"

local MOST, SECONDS = 30, 60

mai.pre_exec("rate-limit", function(call)
  local who = "n " .. call.caller.platform .. ":" .. call.caller.user_id
  -- A call is judged again after an approval or a rewrite; it counts once.
  local seen = "c " .. call.id
  if mai.kv.get(seen) then
    return
  end
  if (mai.kv.get(who) or 0) >= MOST then
    return mai.deny("more than " .. MOST .. " commands in " .. SECONDS .. " seconds; wait a little")
  end
  mai.kv.add(who, 1, SECONDS)
  mai.kv.set(seen, true, SECONDS)
end)
