-- Shapes of secrets that the built-in filter does not know. A mask applies to every way out: results, live output,
-- logs, the audit trail. It must begin with fixed text.
local mai = require "maishell"

mai.mask("stripe", [[(?:sk|rk)_(?:live|test)_[0-9A-Za-z]{20,}]], "sk_***")
mai.mask("slack-webhook", [[hooks\.slack\.com/services/[0-9A-Za-z/]{20,}]], "hooks.slack.com/services/***")
mai.mask("digitalocean", [[do[opr]_v1_[0-9a-f]{40,}]], "dop_v1_***")
mai.mask("huggingface", [[hf_[0-9A-Za-z]{30,}]], "hf_***")
mai.mask("pypi", [[pypi-AgE[0-9A-Za-z_-]{40,}]], "pypi-***")
mai.mask("age", [[AGE-SECRET-KEY-1[0-9A-Z]{50,}]], "AGE-SECRET-KEY-***")
