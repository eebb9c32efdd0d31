package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/maishell/maishell/audit"
	"github.com/maishell/maishell/channels"
	"github.com/maishell/maishell/config"
	"github.com/maishell/maishell/guard"
	"github.com/maishell/maishell/store"
	"github.com/maishell/maishell/texts"
)

func newAudit(sys system, opts *options, say *texts.Catalog) *cobra.Command {
	c := &cobra.Command{Use: "audit", PersistentPreRunE: func(*cobra.Command, []string) error { return refuseInside(sys) }, Short: say.Say("app.audit_short"), Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	c.AddCommand(auditList(sys, opts, say), auditShow(sys, opts, say), auditVerify(sys, opts, say),
		&cobra.Command{Use: "export", Short: say.Say("app.audit_export_short"), Args: cobra.NoArgs,
			RunE: func(c *cobra.Command, _ []string) error {
				return withStore(c.Context(), sys, opts, func(_ *config.Config, s *store.Store) error { return s.Export(c.Context(), sys.out) })
			}})
	return c
}

// withStore opens the audit database of the configuration in use, for reading.
func withStore(ctx context.Context, sys system, opts *options, do func(*config.Config, *store.Store) error) (err error) {
	cfg, err := loadConfig(sys, opts)
	if err != nil {
		return err
	}
	dir, err := storeDir(cfg, sys)
	if err != nil {
		return err
	}
	s, err := store.Open(ctx, store.Options{Dir: dir})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return do(cfg, s)
}

func auditList(sys system, opts *options, say *texts.Catalog) *cobra.Command {
	var f store.Filter
	var kind, since string
	var asJSON bool
	c := &cobra.Command{Use: "list", Short: say.Say("app.audit_list_short"), Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) (err error) {
			f.Kind = audit.Kind(kind)
			if f.Since, err = checkFilter(&f, since); err != nil {
				return err
			}
			if f.Limit == 0 {
				f.Limit = -1
			}
			return withStore(c.Context(), sys, opts, func(cfg *config.Config, s *store.Store) error {
				recs, err := s.List(c.Context(), f)
				if err != nil {
					return err
				}
				if asJSON {
					return printJSON(sys.out, recs)
				}
				return printRecords(sys.out, say, zone(cfg), recs)
			})
		}}
	fl := c.Flags()
	fl.StringVar(&f.Caller, "caller", "", say.Say("app.flag_audit_caller"))
	fl.StringVar(&f.Session, "session", "", say.Say("app.flag_audit_session"))
	fl.StringVar(&f.Tool, "tool", "", say.Say("app.flag_audit_tool"))
	fl.StringVar(&f.Verdict, "verdict", "", say.Say("app.flag_audit_verdict"))
	fl.StringVar(&kind, "kind", "", say.Say("app.flag_audit_kind"))
	fl.StringVar(&f.Text, "text", "", say.Say("app.flag_audit_text"))
	fl.StringVar(&since, "since", "", say.Say("app.flag_audit_since"))
	fl.IntVar(&f.Limit, "limit", 50, say.Say("app.flag_audit_limit"))
	fl.BoolVar(&asJSON, "json", false, say.Say("app.flag_json"))
	return c
}

// checkFilter refuses what no record can have, and returns since when records are asked for.
func checkFilter(f *store.Filter, since string) (time.Time, error) {
	kinds := []string{string(audit.Intent), string(audit.Outcome), string(audit.Refusal), string(audit.Event)}
	verdicts := []string{guard.Allow.String(), guard.Confirm.String(), guard.Deny.String()}
	if err := oneOf("--kind", string(f.Kind), kinds); err != nil {
		return time.Time{}, err
	}
	if err := oneOf("--verdict", f.Verdict, verdicts); err != nil {
		return time.Time{}, err
	}
	if f.Limit < 0 {
		return time.Time{}, usageError{id: "app.bad_number", args: []any{"limit", f.Limit}}
	}
	if since == "" {
		return time.Time{}, nil
	}
	d, err := time.ParseDuration(since)
	if err != nil || d <= 0 {
		return time.Time{}, usageError{id: "app.bad_since", args: []any{since}}
	}
	return time.Now().Add(-d), nil
}

// oneOf refuses a value of a flag or command that is none of choices; an empty one is not set.
func oneOf(of, value string, choices []string) error {
	if value == "" || slices.Contains(choices, value) {
		return nil
	}
	return usageError{id: "app.bad_choice", args: []any{of, value, strings.Join(choices, ", ")}}
}

// zone is where times are shown for: [ui] timezone, else the system's.
func zone(cfg *config.Config) *time.Location {
	if cfg.UI.Timezone == "" {
		return time.Local
	}
	loc, err := time.LoadLocation(cfg.UI.Timezone)
	if err != nil { // not reached: the configuration is checked
		return time.Local
	}
	return loc
}

func printJSON(w io.Writer, recs []audit.Record) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, r := range recs {
		if err := enc.Encode(r); err != nil {
			return err
		}
	}
	return nil
}

func printRecords(w io.Writer, say *texts.Catalog, in *time.Location, recs []audit.Record) error {
	for _, r := range recs {
		if _, err := fmt.Fprintln(w, recordLine(say, in, &r)); err != nil {
			return err
		}
	}
	return nil
}

// recordLine shows a record on one line: a command's text cannot add lines or drive the terminal.
func recordLine(say *texts.Catalog, in *time.Location, r *audit.Record) string {
	result := r.Verdict
	if r.Status != "" {
		result = strings.TrimPrefix(result+"/"+r.Status, "/")
	}
	words := []string{
		strconv.FormatInt(r.Seq, 10), r.Time.In(in).Format(time.RFC3339), string(r.Kind), dash(r.Caller), dash(r.Role), dash(r.Tool), dash(result),
	}
	if r.ExitCode != nil {
		words = append(words, "exit="+strconv.Itoa(*r.ExitCode))
	}
	words = append(words, dash(r.Rule))
	if why := recordReason(say, r); why != "" {
		words = append(words, "["+channels.RevealLine(why)+"]")
	}
	what := r.Command
	switch {
	case what != "" || audit.LossOf(r) != nil:
	case r.Kind == audit.Refusal && len(r.Args) > 0: // refused before it was clear what would run
		what = string(r.Args)
	default:
		what = r.Detail
	}
	return strings.TrimSpace(strings.Join(append(words, channels.RevealLine(what)), " "))
}

// recordReason words why a record is as it is; empty when it does not say, or in a way that is not understood.
func recordReason(say *texts.Catalog, r *audit.Record) string {
	if p := audit.LossOf(r); p != nil {
		return say.Error(p)
	}
	id, rest, _ := strings.Cut(r.Reason, " ")
	var args []any
	for rest != "" {
		quoted, err := strconv.QuotedPrefix(rest)
		if err != nil { // cut off when it was recorded
			return ""
		}
		text, err := strconv.Unquote(quoted)
		if err != nil {
			return ""
		}
		// A value can be a message of its own, of which the record has the id and not the values.
		if n, ok := say.Arity(text); ok {
			text = say.Say(text, slices.Repeat([]any{"…"}, n)...)
		}
		args, rest = append(args, text), strings.TrimPrefix(rest[len(quoted):], " ")
	}
	if n, ok := say.Arity(id); !ok || n > len(args) {
		return ""
	}
	return say.Say(id, args...)
}

func dash(s string) string { return orDefault(s, "-") }

func auditShow(sys system, opts *options, say *texts.Catalog) *cobra.Command {
	return &cobra.Command{Use: "show SEQ", Short: say.Say("app.audit_show_short"), Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			seq, err := strconv.ParseInt(args[0], 10, 64)
			if err != nil || seq < 1 {
				return usageError{id: "app.bad_seq", args: []any{args[0]}}
			}
			return withStore(c.Context(), sys, opts, func(_ *config.Config, s *store.Store) error {
				r, err := s.Get(c.Context(), seq)
				if err != nil {
					return err
				}
				enc := json.NewEncoder(sys.out)
				enc.SetEscapeHTML(false)
				enc.SetIndent("", "  ")
				return enc.Encode(r)
			})
		}}
}

func auditVerify(sys system, opts *options, say *texts.Catalog) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{Use: "verify", Short: say.Say("app.audit_verify_short"), Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return withStore(c.Context(), sys, opts, func(_ *config.Config, s *store.Store) error {
				report, err := s.Verify(c.Context())
				if err != nil {
					return err
				}
				if asJSON {
					err = json.NewEncoder(sys.out).Encode(report)
				} else if report.Problem == nil {
					_, err = fmt.Fprintln(sys.out, verified(say, report))
				}
				return errors.Join(err, report.Err())
			})
		}}
	c.Flags().BoolVar(&asJSON, "json", false, say.Say("app.flag_json"))
	return c
}

// verified words a whole chain, and what could not be compared.
func verified(say *texts.Catalog, r store.Report) string {
	text := say.Say("app.audit_verified", r.Records, r.Head.Hash)
	if r.HeadFile != "ok" && r.Records > 0 {
		text += "\n" + say.Say("app.audit_head_"+r.HeadFile)
	}
	return text
}
