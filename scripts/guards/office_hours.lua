-- Outside Monday to Friday, 9 to 18 o'clock in the zone of [ui] timezone, a person has to approve commands. Copy it into
-- your scripts directory under another name to have other hours.
local mai = require "maishell"

local FIRST_DAY, LAST_DAY = 1, 5 -- Monday is 1
local OPENS, CLOSES = 9, 18

mai.pre_exec("office-hours", function(call)
  local day, hour = mai.time.weekday(), mai.time.hour()
  if day < FIRST_DAY or day > LAST_DAY or hour < OPENS or hour >= CLOSES then
    return mai.confirm("it is outside office hours")
  end
end)
