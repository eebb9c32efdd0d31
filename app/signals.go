package app

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// untilStopped returns a context that ends when the system asks us to stop. A signal that we were started with ignored
// (nohup, a background job of a script) stays ignored. It must be called before executor.New, which lets the runtime
// handle ignored signals so that commands do not inherit that.
func untilStopped(ctx context.Context, more ...os.Signal) (context.Context, context.CancelFunc) {
	var heard []os.Signal
	for _, s := range append(more, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT) {
		if !signal.Ignored(s) {
			heard = append(heard, s)
		}
	}
	if len(heard) == 0 { // Notify without signals would mean all of them
		return context.WithCancel(ctx)
	}
	return signal.NotifyContext(ctx, heard...)
}

// interruptions turns Ctrl-C into values of a channel. stop gives the signal back to the system.
func interruptions() (<-chan struct{}, func()) {
	if signal.Ignored(os.Interrupt) {
		return nil, func() {}
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt)
	out := make(chan struct{})
	done := make(chan struct{})
	go func() {
		for {
			select {
			case <-signals:
			case <-done:
				return
			}
			select {
			case out <- struct{}{}:
			case <-done:
				return
			}
		}
	}()
	return out, func() {
		signal.Stop(signals)
		close(done)
	}
}
