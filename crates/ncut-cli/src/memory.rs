//! How much memory a command may take: what was asked for, or what the machine, its container and the limits of the
//! process leave.

use std::fs;
use std::path::{Path, PathBuf};

/// The part of what is left that a command takes without being asked to: others run beside it, and estimates are rough.
const SHARE: f64 = 0.9;
/// However little was asked for, work may take this: a program is not worth starting for less.
const LEAST: u64 = 64 << 20;

/// Bytes that work may take from now on, if anything limits them: what was asked for less what is taken, or what is left.
pub(crate) fn allowed(asked: Option<u64>) -> Option<u64> {
    match asked {
        Some(asked) => Some(asked.max(LEAST).saturating_sub(taken().unwrap_or(0))),
        None => left(),
    }
}

/// Bytes that are left on this machine for this process, a part of them, if the system tells.
pub(crate) fn left() -> Option<u64> {
    let left = [of_machine(), of_container(), of_process()].into_iter().flatten().min()?;
    Some((left as f64 * SHARE) as u64)
}

/// Bytes of memory that this process has taken, mapped files aside.
fn taken() -> Option<u64> {
    kibibytes(&fs::read_to_string("/proc/self/status").ok()?, "RssAnon:")
}

fn of_machine() -> Option<u64> {
    kibibytes(&fs::read_to_string("/proc/meminfo").ok()?, "MemAvailable:")
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
fn of_process() -> Option<u64> {
    let limits = fs::read_to_string("/proc/self/limits").ok()?;
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let left = |limit: &str, taken: &str| {
        let line = limits.lines().find_map(|line| line.strip_prefix(limit))?;
        let limit: u64 = line.split_whitespace().next()?.parse().ok()?;
        Some(limit.saturating_sub(kibibytes(&status, taken)?))
    };
    let address_space = left("Max address space", "VmSize:");
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
