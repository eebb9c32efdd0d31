// Package files owns read_file, write_file and list_dir. A user works inside the workspace, through os.Root, which
// neither links nor .. leave; an admin works anywhere when the settings say so. Only regular files and directories are
// opened, and never in a way that blocks.
//
// Invariant: no call at any role changes or shows an own file. The guard judges the path that is asked for; here the
// opened handle is checked once more, so that a link or a rename between check and use wins nothing.
package files
