-- Denies commands that nobody would read before approving them: too long, or too many at once.
local mai = require "maishell"

local MOST_BYTES, MOST_COMMANDS = 4000, 40

mai.pre_exec("command-size", function(call)
  if #call.command > MOST_BYTES then
    return mai.deny("the command has " .. #call.command .. " bytes, at most " .. MOST_BYTES .. " are allowed; put it into a file and run that, or do it in steps")
  end
  if #call.commands > MOST_COMMANDS then
    return mai.deny("these are " .. #call.commands .. " commands at once, at most " .. MOST_COMMANDS .. " are allowed; do it in steps")
  end
end)
