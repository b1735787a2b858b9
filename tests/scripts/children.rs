//! # Children: started when needed, killed when stuck, gone with their parent

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use semel_engine::{Language, Script, Verdict};
use semel_scripts::{Budget, Guards, Pool, child};
use semel_tests::process::{DEADLINE, binary, signal, until};

use crate::corpus::{script, value};
use crate::pools;

/// Never ends, and looks up too rarely to be ended by its budget.
const STUCK: &str = "new Array(1e9).join()";

fn javascript(source: &str) -> Script {
    script(Language::JavaScript, source)
}

fn did_not_finish(why: &str) -> Verdict {
    Verdict::Exhausted(format!("script did not finish: {why}"))
}

/// The processes that were started under this name, which no other test uses.
fn processes(name: &str) -> Vec<u32> {
    let pids = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid| {
        let read = |file| std::fs::read_to_string(format!("/proc/{pid}/{file}"));
        // A zombie has a name but no command line any more.
        read("comm").is_ok_and(|comm| comm.trim_end() == name)
            && read("cmdline").is_ok_and(|line| !line.is_empty())
    })
    .collect()
}

/// A pool of one child that goes by this name.
fn named(directory: &Path, name: &str, guards: Guards) -> Pool {
    let link = directory.join(name);
    symlink(binary().unwrap(), &link).unwrap();
    Pool::new(link, &[child::COMMAND], 1, Budget::default(), guards)
}

#[test]
fn a_thousand_scripts_asked_at_once_are_answered_once_each() {
    let pool = pools::real(2, Budget::default(), Guards::default());
    let scripts = (0..1000).map(|n| javascript(&format!("{n} * 2")));
    let started = Instant::now();
    let (sender, receiver) = mpsc::channel();
    for (n, script) in scripts.enumerate() {
        let sender = sender.clone();
        pool.ask(script, move |verdict| sender.send((n, verdict)).unwrap());
    }
    drop(sender);
    let mut verdicts: Vec<(usize, Verdict)> = receiver.iter().collect();
    println!("1000 scripts by two children: {:?}", started.elapsed());
    verdicts.sort_by_key(|(n, _)| *n);
    let expected: Vec<_> = (0..1000).map(|n| (n, value(&(n * 2).to_string()))).collect();
    assert_eq!(verdicts, expected);
}

#[test]
fn a_child_is_kept_until_a_script_is_too_much_for_it() {
    let directory = tempfile::tempdir().unwrap();
    let pool = named(directory.path(), "semel-kept", Guards::default());
    assert_eq!(processes("semel-kept"), [0; 0]);
    assert_eq!(pools::ask(&pool, javascript("1")), value("1"));
    let first = processes("semel-kept");
    assert_eq!(first.len(), 1);
    assert!(matches!(pools::ask(&pool, javascript("nope")), Verdict::Failed(_)));
    assert_eq!(pools::ask(&pool, javascript("2")), value("2"));
    assert_eq!(processes("semel-kept"), first);
    // Who spent its budget may have harmed the engine, and holds what it took.
    assert!(matches!(pools::ask(&pool, javascript("while (true) {}")), Verdict::Exhausted(_)));
    assert_eq!(processes("semel-kept"), [0; 0]);
    assert_eq!(pools::ask(&pool, javascript("3")), value("3"));
    assert_eq!(processes("semel-kept").len(), 1);
    drop(pool);
    assert_eq!(processes("semel-kept"), [0; 0]);
}

#[test]
fn a_child_is_sealed_before_its_first_script() {
    let directory = tempfile::tempdir().unwrap();
    let pool = named(directory.path(), "semel-sealed", Guards::default());
    assert_eq!(pool.is_sealed(), None);
    assert_eq!(pools::ask(&pool, javascript("1")), value("1"));
    assert_eq!(pool.is_sealed(), Some(true));
    let pid = processes("semel-sealed")[0];
    let threads: Vec<_> = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap().collect();
    assert!(threads.len() >= 2, "one serves, one waits for it");
    for thread in threads {
        let status = std::fs::read_to_string(thread.unwrap().path().join("status")).unwrap();
        for line in ["Seccomp:\t2", "NoNewPrivs:\t1"] {
            assert!(status.lines().any(|found| found == line), "{line}: {status}");
        }
    }
}

#[test]
fn a_child_that_is_not_sealed_is_seen() {
    let directory = tempfile::tempdir().unwrap();
    let starts = directory.path().join("starts");
    let forged = r#"printf '\021\000\000\000{"Failed":"open"}'; exec sleep 1000"#;
    let pool = pools::shell(&starts, forged, Budget::default(), Guards::default());
    pools::ask(&pool, javascript("1"));
    assert_eq!(pool.is_sealed(), Some(false));
}

#[test]
fn a_child_is_replaced_after_a_thousand_scripts() {
    let directory = tempfile::tempdir().unwrap();
    let starts = directory.path().join("starts");
    let pool = pools::shell(&starts, &pools::as_child(), Budget::default(), Guards::default());
    for (scripts, expected) in [(1000, 1), (1, 2)] {
        pools::ask_all(&pool, (0..scripts).map(|_| javascript("1")));
        assert_eq!(pools::starts(&starts), expected);
    }
}

#[test]
fn a_verdict_of_the_budget_is_not_asked_twice() {
    let directory = tempfile::tempdir().unwrap();
    let starts = directory.path().join("starts");
    let pool = pools::shell(&starts, &pools::as_child(), Budget::default(), Guards::default());
    let spent = pools::ask(&pool, javascript("while (true) {}"));
    assert_eq!(spent, Verdict::Exhausted("the script ran longer than 500 ticks".to_owned()));
    assert_eq!(pools::starts(&starts), 1);
}

#[test]
fn a_child_that_works_too_long_is_killed_and_its_script_asked_once_more() {
    let directory = tempfile::tempdir().unwrap();
    let starts = directory.path().join("starts");
    let guards = Guards { cpu_ms: 100, ..Guards::default() };
    let pool = pools::shell(&starts, "while :; do :; done", Budget::default(), guards);
    let verdict = pools::ask(&pool, javascript("1"));
    assert_eq!(verdict, did_not_finish("it took more than 100 ms of CPU time"));
    assert_eq!(pools::starts(&starts), 2);
}

#[test]
fn a_child_that_sleeps_too_long_is_killed_and_its_script_asked_once_more() {
    let directory = tempfile::tempdir().unwrap();
    let starts = directory.path().join("starts");
    let guards = Guards { wall_ms: 100, ..Guards::default() };
    let pool = pools::shell(&starts, "exec sleep 1000", Budget::default(), guards);
    let verdict = pools::ask(&pool, javascript("1"));
    assert_eq!(verdict, did_not_finish("it took more than 100 ms"));
    assert_eq!(pools::starts(&starts), 2);
}

#[test]
fn a_child_that_dies_or_talks_nonsense_is_asked_once_more() {
    // It ends at once; it ends when asked; it repeats what it hears; it promises more than it says.
    for then in
        ["exit 1", "head -c 1; exit 1", "exec cat", "printf '\\377\\377\\377\\377no'; head -c 1"]
    {
        let directory = tempfile::tempdir().unwrap();
        let starts = directory.path().join("starts");
        let pool = pools::shell(&starts, then, Budget::default(), Guards::default());
        let verdict = pools::ask(&pool, javascript("1"));
        assert_eq!(verdict, did_not_finish("its process ended, out of memory or stack"), "{then}");
        assert_eq!(pools::starts(&starts), 2, "{then}");
    }
}

#[test]
fn a_script_whose_first_child_was_unlucky_is_answered_by_the_second() {
    let directory = tempfile::tempdir().unwrap();
    let starts = directory.path().join("starts");
    let unlucky =
        format!("[ $(wc -l < '{}') = 1 ] && exit 1; {}", starts.display(), pools::as_child());
    let pool = pools::shell(&starts, &unlucky, Budget::default(), Guards::default());
    assert_eq!(pools::ask(&pool, javascript("1")), value("1"));
    assert_eq!(pools::starts(&starts), 2);
}

#[test]
fn a_child_that_died_in_its_sleep_is_replaced() {
    let directory = tempfile::tempdir().unwrap();
    let pool = named(directory.path(), "semel-asleep", Guards::default());
    assert_eq!(pools::ask(&pool, javascript("1")), value("1"));
    let first = processes("semel-asleep");
    signal(first[0], "KILL").unwrap();
    until("the child is gone", DEADLINE, || processes("semel-asleep").is_empty().then_some(()))
        .unwrap();
    assert_eq!(pools::ask(&pool, javascript("2")), value("2"));
    assert_ne!(processes("semel-asleep"), first);
}

#[test]
fn a_program_that_cannot_be_started_is_named_as_the_reason() {
    let pool = Pool::new("/no/such/program", &[], 1, Budget::default(), Guards::default());
    let Verdict::Exhausted(reason) = pools::ask(&pool, javascript("1")) else {
        panic!("it cannot have been evaluated");
    };
    assert!(reason.starts_with("no process for scripts can be started: "), "{reason}");
}

#[test]
fn whoever_panics_at_a_verdict_harms_nobody_else() {
    let pool = pools::real(1, Budget::default(), Guards::default());
    pool.ask(javascript("1"), |_| panic!("on purpose"));
    assert_eq!(pools::ask(&pool, javascript("2")), value("2"));
}

#[test]
fn a_script_that_is_longer_than_a_frame_is_refused() {
    let pool = pools::real(1, Budget::default(), Guards::default());
    let verdict = pools::ask(&pool, javascript(&" ".repeat(64 * 1024 * 1024)));
    let expected = "script and input are longer than 67108864 bytes";
    assert_eq!(verdict, Verdict::Exhausted(expected.to_owned()));
}

#[test]
fn a_dropped_pool_ends_its_children_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let pool = named(directory.path(), "semel-dropped", Guards::default());
    let (sender, receiver) = mpsc::channel();
    for source in [STUCK, "1"] {
        let sender = sender.clone();
        pool.ask(javascript(source), move |verdict| sender.send(verdict).unwrap());
    }
    drop(sender);
    let started = || (!processes("semel-dropped").is_empty()).then_some(());
    until("the child is started", DEADLINE, started).unwrap();
    drop(pool);
    assert_eq!(processes("semel-dropped"), [0; 0]);
    // Neither is ever answered.
    assert_eq!(receiver.recv(), Err(mpsc::RecvError));
}

#[test]
fn a_child_has_nothing_of_the_server() {
    let directory = tempfile::tempdir().unwrap();
    let secret = directory.path().canonicalize().unwrap().join("secret");
    let _held_open = std::fs::File::create(&secret).unwrap();
    let pool = named(directory.path(), "semel-bare", Guards::default());
    let local = "[new Date(2024, 0).toISOString(), new Date(0).getHours(), Date()]";
    let expected = r#"["2024-01-01T00:00:00.000Z",0,"Tue Nov 14 2023 22:13:20 GMT+0000"]"#;
    assert_eq!(pools::ask(&pool, javascript(local)), value(expected));
    let pid = processes("semel-bare")[0];
    let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap();
    assert_eq!(String::from_utf8(environment).unwrap(), "TZ=UTC\0");
    let open = std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap();
    let open: Vec<_> =
        open.map(|entry| std::fs::read_link(entry.unwrap().path()).unwrap()).collect();
    assert!(open.len() >= 3 && !open.contains(&secret), "{open:?}");
    let limits = std::fs::read_to_string(format!("/proc/{pid}/limits")).unwrap();
    let limit = |name| limits.lines().find(|line| line.starts_with(name)).unwrap();
    assert!(limit("Max address space").contains("805306368"), "{limits}");
    assert!(limit("Max core file size").contains(" 0 "), "{limits}");
}

const DIRECTORY: &str = "SEMEL_TEST_DOOMED";
const DOOMED: &str = "semel-doomed";

/// A process of its own, to be killed by the test below.
#[test]
#[ignore = "run by a_busy_child_dies_with_its_parent"]
fn a_parent_that_is_killed() {
    let Some(directory) = std::env::var_os(DIRECTORY) else { return };
    let pool = named(Path::new(&directory), DOOMED, Guards { cpu_ms: 600_000, wall_ms: 600_000 });
    pools::ask(&pool, javascript(STUCK));
}

#[test]
fn a_busy_child_dies_with_its_parent() {
    let directory = tempfile::tempdir().unwrap();
    let mut parent = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "children::a_parent_that_is_killed", "--ignored"])
        .env(DIRECTORY, directory.path())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let child = until("the child is started", DEADLINE, || processes(DOOMED).first().copied());
    let child = child.unwrap();
    let is_busy = || (cpu_ticks(child) > 20).then_some(());
    until("the child is busy", DEADLINE, is_busy).unwrap();
    parent.kill().unwrap();
    parent.wait().unwrap();
    until("the child is gone", Duration::from_secs(10), || {
        processes(DOOMED).is_empty().then_some(())
    })
    .unwrap();
}

/// User time so far, in hundredths of a second.
fn cpu_ticks(pid: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let (_, fields) = stat.rsplit_once(')').unwrap();
    fields.split_ascii_whitespace().nth(11).unwrap().parse().unwrap()
}
