//! How much memory a process may take: what the machine, its container and the limits of the process leave. The library
//! takes it as a number; the command line and the Python package find it out here.

use std::fs;
use std::path::{Path, PathBuf};

/// The part of what is left that work takes without being asked to: others run beside it, and estimates are rough.
const SHARE: f64 = 0.9;
/// Address space that the system's allocator sets aside for a thread, used or not.
const PER_THREAD: u64 = 64 << 20;

/// Bytes of memory that are left for this process, nine tenths of them, if the system tells. Where address space is limited
/// (`ulimit -v`), what `n_threads` may set aside of it without using it is taken off.
pub fn memory_left(n_threads: u64) -> Option<u64> {
    let left = [of_machine(), of_container(), of_process(n_threads)].into_iter().flatten().min()?;
    Some((left as f64 * SHARE) as u64)
}

/// Bytes of memory that this process has taken, mapped files aside, if the system tells.
pub fn memory_taken() -> Option<u64> {
    kibibytes(&fs::read_to_string("/proc/self/status").ok()?, "RssAnon:")
}

fn of_machine() -> Option<u64> {
    let memory = fs::read_to_string("/proc/meminfo").ok()?;
    let available = kibibytes(&memory, "MemAvailable:");
    // Where the system promises no more than it has, what all processes were promised counts.
    let is_strict = number(Path::new("/proc/sys/vm/overcommit_memory")) == Some(2);
    let promised = kibibytes(&memory, "CommitLimit:").zip(kibibytes(&memory, "Committed_AS:"));
    let unpromised = promised.filter(|_| is_strict).map(|(limit, taken)| limit.saturating_sub(taken));
    available.into_iter().chain(unpromised).min()
}

/// What the control groups leave: the group of this process, and all that it is in.
fn of_container() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    groups.lines().filter_map(of_group).min()
}

/// What a line `number:controllers:path` leaves, in the first version of control groups and in the second.
fn of_group(line: &str) -> Option<u64> {
    let mut parts = line.splitn(3, ':');
    let (_, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
    let (root, limit, usage, cache) = match controllers {
        "" => ("/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"),
        _ if controllers.split(',').any(|controller| controller == "memory") => {
            let (limit, usage) = ("memory.limit_in_bytes", "memory.usage_in_bytes");
            ("/sys/fs/cgroup/memory", limit, usage, "total_inactive_file")
        }
        _ => return None,
    };
    let path = PathBuf::from(format!("{root}{path}"));
    let left = |group: &Path| {
        // "max" is no number, and no limit.
        let limit = number(&group.join(limit))?;
        // Pages of files are given back when memory is needed.
        let cached = fs::read_to_string(group.join("memory.stat")).ok().and_then(|stat| {
            let line = stat.lines().find_map(|line| line.strip_prefix(cache)?.strip_prefix(' '))?;
            line.trim().parse::<u64>().ok()
        });
        Some(limit.saturating_sub(number(&group.join(usage))?.saturating_sub(cached.unwrap_or(0))))
    };
    path.ancestors().take_while(|group| group.starts_with(root)).filter_map(left).min()
}

/// What the limits of the process (`ulimit -v`, `ulimit -d`) leave.
fn of_process(n_threads: u64) -> Option<u64> {
    let limits = fs::read_to_string("/proc/self/limits").ok()?;
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let left = |limit: &str, taken: &str| {
        let line = limits.lines().find_map(|line| line.strip_prefix(limit))?;
        let limit: u64 = line.split_whitespace().next()?.parse().ok()?;
        Some(limit.saturating_sub(kibibytes(&status, taken)?))
    };
    let address_space = left("Max address space", "VmSize:");
    let address_space = address_space.map(|left| left.saturating_sub(n_threads * PER_THREAD));
    address_space.into_iter().chain(left("Max data size", "VmData:")).min()
}

/// A number that stands alone in a file.
fn number(file: &Path) -> Option<u64> {
    fs::read_to_string(file).ok()?.trim().parse().ok()
}

/// Bytes, from a line `name 123 kB`.
fn kibibytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|count| count * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn linux_tells_what_is_left_and_what_is_taken() {
        let (left, taken) = (memory_left(0).unwrap(), memory_taken().unwrap());
        assert!(left > 1 << 20, "{left}");
        assert!((1..1 << 34).contains(&taken), "{taken}");
    }

    #[test]
    fn lines_without_a_limit_tell_nothing() {
        assert_eq!(of_group("0::/no/such/group"), None);
        assert_eq!(of_group("3:cpu:/"), None);
        assert_eq!(of_group("nonsense"), None);
        assert_eq!(kibibytes("VmSize:\t  12 kB\n", "VmSize:"), Some(12 << 10));
        assert_eq!(kibibytes("VmSize:\n", "VmSize:"), None);
    }
}
