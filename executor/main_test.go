package executor

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// helperEnv names the part that this test binary plays when a test starts it as a program, see helperMain.
const helperEnv = "EXECUTOR_TEST_HELPER"

func TestMain(m *testing.M) {
	if name := os.Getenv(helperEnv); name != "" {
		os.Exit(helperMain(name))
	}
	goleak.VerifyTestMain(m)
}
