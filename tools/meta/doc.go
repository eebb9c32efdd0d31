// Package meta owns the tools about tools: list_tools and get_tool_schema. They show what the caller's own view holds
// at this moment and nothing else.
package meta
