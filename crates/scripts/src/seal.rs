//! # Seal: what a child may ask of the kernel
//!
//! A script has no way to a file or a socket, but an exploit of its engine would. A child that has begun to serve may
//! therefore calculate, take memory, read what it is sent and write what it answers; everything else the kernel refuses
//! with `EPERM`: opening a file, a socket, starting a process, looking into another one. It never gets this back.
//! Linux only, on the machines the filter is written for; elsewhere the child goes on without, and its parent says so.

#[cfg(target_os = "linux")]
pub(crate) use linux::seal;

#[cfg(not(target_os = "linux"))]
pub(crate) fn seal() -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::BTreeMap;
    use std::io;

    use seccompiler::{
        BpfProgram, SeccompAction, SeccompFilter, TargetArch, apply_filter_all_threads,
    };

    /// No file is opened by any of them, and no other process is reached.
    const ALLOWED: &[libc::c_long] = &[
        // Requests and answers.
        libc::SYS_read,
        libc::SYS_readv,
        libc::SYS_write,
        libc::SYS_writev,
        libc::SYS_close,
        libc::SYS_fstat,
        // Memory.
        libc::SYS_brk,
        libc::SYS_madvise,
        libc::SYS_mmap,
        libc::SYS_mprotect,
        libc::SYS_mremap,
        libc::SYS_munmap,
        libc::SYS_sysinfo,
        // Time and chance.
        libc::SYS_clock_getres,
        libc::SYS_clock_gettime,
        libc::SYS_clock_nanosleep,
        libc::SYS_getrandom,
        libc::SYS_gettimeofday,
        libc::SYS_nanosleep,
        // Threads that are there already, their signals and their end.
        libc::SYS_exit,
        libc::SYS_exit_group,
        libc::SYS_futex,
        libc::SYS_getpid,
        libc::SYS_gettid,
        libc::SYS_membarrier,
        libc::SYS_restart_syscall,
        libc::SYS_rseq,
        libc::SYS_rt_sigaction,
        libc::SYS_rt_sigprocmask,
        libc::SYS_rt_sigreturn,
        libc::SYS_sched_getaffinity,
        libc::SYS_sched_yield,
        libc::SYS_set_robust_list,
        libc::SYS_sigaltstack,
        libc::SYS_tgkill,
    ];

    /// Seals all threads of this process.
    pub(crate) fn seal() -> io::Result<()> {
        apply_filter_all_threads(&program()?).map_err(io::Error::other)
    }

    fn program() -> io::Result<BpfProgram> {
        let machine = TargetArch::try_from(std::env::consts::ARCH).map_err(io::Error::other)?;
        let rules: BTreeMap<_, _> = ALLOWED.iter().map(|call| (*call, Vec::new())).collect();
        let refused = SeccompAction::Errno(libc::EPERM.unsigned_abs());
        let filter = SeccompFilter::new(rules, refused, SeccompAction::Allow, machine);
        BpfProgram::try_from(filter.map_err(io::Error::other)?).map_err(io::Error::other)
    }

    #[cfg(test)]
    mod tests {
        use std::fs::File;
        use std::io::ErrorKind;
        use std::net::{TcpListener, TcpStream, UdpSocket};
        use std::process::Command;

        use semel_engine::{Language, Script, Verdict};
        use semel_model::{Payload, TaskId, Timestamp};

        use super::*;
        use crate::{Budget, evaluate};

        /// On a thread of its own, which alone is sealed: this process has other tests to run.
        fn sealed<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
            let work = move || {
                seccompiler::apply_filter(&program().unwrap()).unwrap();
                work()
            };
            std::thread::spawn(work).join().unwrap()
        }

        #[test]
        fn a_sealed_child_reaches_neither_files_nor_network_nor_processes() {
            let directory = tempfile::tempdir().unwrap();
            let (there, new) = (directory.path().join("there"), directory.path().join("new"));
            std::fs::write(&there, "secret").unwrap();
            let (read, made) = (there.clone(), new.clone());
            let refused = sealed(move || {
                [
                    ("reading a file", File::open(&read).err()),
                    ("making a file", File::create(&made).err()),
                    ("removing a file", std::fs::remove_file(&read).err()),
                    ("listing a directory", std::fs::read_dir("/").err()),
                    ("listening", TcpListener::bind("127.0.0.1:0").err()),
                    ("connecting", TcpStream::connect("127.0.0.1:9").err()),
                    ("a datagram", UdpSocket::bind("127.0.0.1:0").err()),
                    ("a process", Command::new("/bin/true").spawn().err()),
                ]
                .map(|(what, error)| (what, error.map(|error| error.kind())))
            });
            for (what, error) in refused {
                assert_eq!(error, Some(ErrorKind::PermissionDenied), "{what}");
            }
            assert!(there.exists() && !new.exists());
        }

        #[test]
        fn a_sealed_child_calculates() {
            let of = |language, source: &str| Script {
                language,
                source: source.to_owned(),
                input: Payload::from_text(r#"{"n": [3, 1, 2]}"#.to_owned()).unwrap(),
                now: Timestamp::from_ms(1_000),
                seed: TaskId::from_bytes([0; 16]),
            };
            let scripts = [
                (
                    of(
                        Language::JavaScript,
                        "$.n.sort().join() + new Date().getTime() + Math.random() * 0",
                    ),
                    "\"1,2,310000\"",
                ),
                (of(Language::JavaScript, "new Array(200000).fill('x').join('').length"), "200000"),
                (of(Language::Jq, ".n | sort | map(. * 2)"), "[[2,4,6]]"),
            ];
            for (script, wanted) in scripts {
                let source = script.source.clone();
                let verdict = sealed(move || evaluate(&script, &Budget::default()));
                let Verdict::Value(found) = verdict else { panic!("{source}: {verdict:?}") };
                assert_eq!(found.text(), wanted, "{source}");
            }
        }
    }
}
