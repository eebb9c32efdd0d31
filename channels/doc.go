// Package channels owns what every way in and out has in common: the message that comes in, the sink that replies go
// to, the question a person can be asked, and how untrusted text is shown. A channel proves who is speaking and makes
// the origin of each message; it knows no agent, no tool and no policy, and never decides what somebody may do.
//
// Invariant: text that others wrote (command output, a model's reply, a command line to approve) reaches a person's
// screen only through Printable or Reveal, so that it cannot drive a terminal or hide what it says.
package channels
