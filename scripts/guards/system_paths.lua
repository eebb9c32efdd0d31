-- Denies writing to the system's own directories, as far as the text of a command shows it: where redirections go, the
-- plain operands of the programs named below, and what write_file names.
--
-- It cannot see: paths that only exist when the command runs (variables, output of commands, wildcards), programs that
-- are not named here, scripts and interpreters (python -c, make, installers), links that lead into these directories,
-- and text that another machine runs. It is a handrail, not a wall: that is another account or a sandbox.
local mai = require "maishell"

local SYSTEM = {
  "/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/proc", "/sbin", "/sys", "/usr", "/var/lib/dpkg",
  "/var/lib/rpm", "/System", "/Library",
}
-- Below a system directory, but for everybody.
local OPEN = { "/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/zero", "/dev/fd", "/dev/shm", "/usr/local" }

-- Programs that write or remove each of their operands, and those that write the last one only.
local EVERY = {
  tee = true, rm = true, rmdir = true, unlink = true, touch = true, mkdir = true, mv = true, chmod = true, chown = true,
  chgrp = true, truncate = true, shred = true, mkfifo = true, mknod = true,
}
local LAST = { cp = true, install = true, ln = true, rsync = true, scp = true }

local function within(path, dir)
  return path == dir or path:sub(1, #dir + 1) == dir .. "/"
end

-- The absolute path without ".", ".." and doubled slashes.
local function clean(path, cwd)
  if path:sub(1, 1) ~= "/" then
    path = cwd .. "/" .. path
  end
  local parts = {}
  for part in path:gmatch("[^/]+") do
    if part == ".." then
      table.remove(parts)
    elseif part ~= "." then
      table.insert(parts, part)
    end
  end
  return "/" .. table.concat(parts, "/")
end

local function is_system(path, cwd)
  local full = clean(path, cwd)
  if full == "/" then
    return true
  end
  for _, dir in ipairs(OPEN) do
    if within(full, dir) then
      return false
    end
  end
  for _, dir in ipairs(SYSTEM) do
    if within(full, dir) then
      return true
    end
  end
  return false
end

-- The operands that a command writes.
local function written(cmd)
  local name = cmd.program:match("[^/]*$")
  local plain, in_place, targets = {}, false, {}
  for i, word in ipairs(cmd.args) do
    if word.static then
      local text = word.text
      if name == "dd" and text:sub(1, 3) == "of=" then
        table.insert(targets, text:sub(4))
      elseif text:sub(1, 1) ~= "-" then
        table.insert(plain, text)
      elseif text == "-t" or text == "--target-directory" then
        local next_word = cmd.args[i + 1]
        if next_word and next_word.static then
          table.insert(targets, next_word.text)
        end
      elseif text:sub(1, 19) == "--target-directory=" then
        table.insert(targets, text:sub(20))
      elseif text:sub(1, 2) == "-i" or text:sub(1, 10) == "--in-place" then
        in_place = true
      end
    end
  end
  if EVERY[name] or name == "sed" and in_place then
    return plain
  end
  if LAST[name] and #plain > 0 and #targets == 0 then
    return { plain[#plain] }
  end
  return targets
end

local function why(path)
  return mai.deny(path .. " belongs to the system; this guard lets nobody write there")
end

mai.pre_exec("system-paths", function(call)
  for _, cmd in ipairs(call.commands) do
    for _, r in ipairs(cmd.redirects) do
      if r.writes and r.static and is_system(r.text, call.cwd) then
        return why(r.text)
      end
    end
    for _, path in ipairs(written(cmd)) do
      if is_system(path, call.cwd) then
        return why(path)
      end
    end
  end
end)

mai.pre_tool("system-paths-files", function(call)
  for _, path in ipairs(call.writes) do
    if is_system(path, "/") then
      return why(path)
    end
  end
end)
