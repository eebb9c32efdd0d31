package llm

import "unicode/utf8"

// perMessage is what a message costs beside its text.
const perMessage = 4

// Estimate is about how many tokens messages are to a model: four ASCII characters to a token, one token for every
// other character, since Chinese and emoji are cut that finely.
func Estimate(messages ...Message) int {
	total := 0
	for i := range messages {
		total += perMessage + EstimateText(messages[i].Content)
		for _, c := range messages[i].ToolCalls {
			total += perMessage + EstimateText(c.Name) + EstimateText(c.Arguments)
		}
	}
	return total
}

// EstimateText is Estimate of one text.
func EstimateText(s string) int {
	ascii, other := 0, 0
	for _, r := range s {
		if r < utf8.RuneSelf {
			ascii++
		} else {
			other++
		}
	}
	return (ascii+3)/4 + other
}
