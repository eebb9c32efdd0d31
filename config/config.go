package config

import "slices"

// Version is the layout of the file that this program reads.
const Version = 1

// Config is all settings. It is shared between goroutines and must not be changed.
//
// The tags are what Load and Schema check: min and max (inclusive), enum (allowed texts), check (see checkText). restart
// is on what does not change while we run.
type Config struct {
	ConfigVersion int        `toml:"config_version" min:"1" max:"1"`
	UI            UI         `toml:"ui"`
	LLM           LLM        `toml:"llm"`
	Agent         Agent      `toml:"agent"`
	Subagent      Subagent   `toml:"subagent"`
	Permission    Permission `toml:"permission"`
	Files         Files      `toml:"files"`
	Shell         Shell      `toml:"shell"`
	Scripts       Scripts    `toml:"scripts"`
	Approval      Approval   `toml:"approval"`
	Store         Store      `toml:"store"`

	provenance
}

// provenance is where the values come from.
type provenance struct {
	sources    []string
	candidates []string
	origins    map[string]string // by setting
	beneath    map[string]any    // by setting that a variable or flag gives: what it would be without
}

// UI is how things are said.
type UI struct {
	Language string `toml:"language" enum:"auto,en,zh"`
	Timezone string `toml:"timezone" check:"timezone"` // IANA name; empty: the system's
}

// LLM is the model that is asked. Without BaseURL or Model it is the offline planner.
type LLM struct {
	BaseURL         string `toml:"base_url" check:"url"` // of an OpenAI-compatible service, version included
	Model           string `toml:"model"`
	APIKeyEnv       string `toml:"api_key_env" restart:"needed"`               // name of an environment variable
	APIKeyFile      string `toml:"api_key_file" check:"path" restart:"needed"` // comes before APIKeyEnv
	Stream          bool   `toml:"stream"`
	TimeoutSeconds  int    `toml:"timeout_seconds" min:"1" max:"3600"` // of one call, tries included
	MaxRetries      int    `toml:"max_retries" min:"0" max:"20"`
	MaxTokensPerDay int    `toml:"max_tokens_per_day" min:"0" max:"2000000000"` // 0: no limit
}

// Agent bounds a turn.
type Agent struct {
	MaxRounds         int `toml:"max_rounds" min:"1" max:"200"`        // model calls in one turn
	MaxParallelTools  int `toml:"max_parallel_tools" min:"1" max:"64"` // tool calls of one round at once
	AskTimeoutSeconds int `toml:"ask_timeout_seconds" min:"1" max:"86400"`
	ContextTokens     int `toml:"context_tokens" min:"2000" max:"10000000"` // of a conversation shown to the model
	MaxTurnsPerMinute int `toml:"max_turns_per_minute" min:"0" max:"10000"` // of one person; 0: no limit
}

// Subagent bounds the sub-agents.
type Subagent struct {
	Enabled              bool `toml:"enabled"`
	MaxRounds            int  `toml:"max_rounds" min:"1" max:"200"`
	MaxResultChars       int  `toml:"max_result_chars" min:"100" max:"1000000"`
	MaxParallelSubagents int  `toml:"max_parallel_subagents" min:"1" max:"64"` // of one ask_subagents
}

// Permission says who has which role. Persons are platform:user_id, groups platform:group:group_id.
type Permission struct {
	Admins            []string `toml:"admins" check:"person"`
	AdminGroups       []string `toml:"admin_groups" check:"group"`
	Users             []string `toml:"users" check:"person"`
	UserGroups        []string `toml:"user_groups" check:"group"`
	AdminInGroupChats bool     `toml:"admin_in_group_chats"`
	Guests            string   `toml:"guests" enum:"ignore,help,chat"`
	LocalRole         string   `toml:"local_role" enum:"guest,user,admin"`
}

// Files bounds the file tools.
type Files struct {
	Workspace    string `toml:"workspace" check:"path" restart:"needed"` // absolute; empty: "files" in Dirs.Data
	AdminOpen    bool   `toml:"admin_open"`
	MaxReadBytes int    `toml:"max_read_bytes" min:"1000" max:"16777216"`
}

// Shell is how commands run.
type Shell struct {
	Enabled           bool    `toml:"enabled"`
	TimeoutSeconds    float64 `toml:"timeout_seconds" min:"1" max:"31536000"` // at most MaxTimeoutSeconds
	MaxTimeoutSeconds float64 `toml:"max_timeout_seconds" min:"1" max:"31536000"`
	MaxOutputChars    int     `toml:"max_output_chars" min:"100" max:"1000000"` // of each stream
	MaxRunning        int     `toml:"max_running" min:"0" max:"10000"`          // 0: four for each core
	Program           string  `toml:"program"`                                  // empty: the system's shell
	Cwd               string  `toml:"cwd" check:"path"`                         // absolute; empty: where we were started
	KillGraceMS       int     `toml:"kill_grace_ms" min:"0" max:"60000"`
	CodePage          string  `toml:"code_page" check:"code_page"` // empty: from the locale
	// EnvAllow are variables of ours that commands get too, by name or with * at the end.
	EnvAllow []string `toml:"env_allow" check:"variable"`
	Env      []string `toml:"env" check:"assignment"` // NAME=value, for every command
}

// Scripts are the Lua guards.
type Scripts struct {
	Dir       string   `toml:"dir" check:"path"` // absolute; empty: "scripts" beside the file in use
	Enable    []string `toml:"enable" check:"name"`
	Required  []string `toml:"required" check:"name"`
	TimeoutMS int      `toml:"timeout_ms" min:"5" max:"5000"` // of one script at one call
}

// Approval is how long somebody is waited for.
type Approval struct {
	WaitSeconds int `toml:"wait_seconds" min:"0" max:"86400"`
}

// Store is where state is kept.
type Store struct {
	Dir string `toml:"dir" check:"path" restart:"needed"` // absolute; empty: Dirs.State
}

// Sources are the files in use, absolute paths; none when only the built-in defaults are.
func (c *Config) Sources() []string { return slices.Clone(c.sources) }

// Candidates are all the places where a configuration file was or could be looked for, absolute paths. Whoever writes
// to one of them changes the settings of this or the next start.
func (c *Config) Candidates() []string { return slices.Clone(c.candidates) }

// Origin says where the value of a setting comes from: "default", "FILE:LINE", the name of an environment variable or
// "flag". It is empty for a key that does not exist.
func (c *Config) Origin(key string) string { return c.origins[key] }

// Keys are all settings in the order of the file, as "section.key".
func (c *Config) Keys() []string { return keys() }
