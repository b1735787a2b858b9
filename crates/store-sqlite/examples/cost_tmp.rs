//! # tmp
use semel_engine::*;
use semel_model::*;
use semel_store::conformance::samples;
use semel_store::*;
use semel_store_sqlite::SqliteStore;
use std::sync::Arc;
use std::time::Instant;

fn thread_ns() -> u64 {
    std::fs::read_to_string("/proc/thread-self/schedstat")
        .unwrap()
        .split(' ')
        .next()
        .unwrap()
        .parse()
        .unwrap()
}
fn process_ms() -> u64 {
    let s = std::fs::read_to_string("/proc/self/stat").unwrap();
    let f: Vec<&str> = s.rsplit(')').next().unwrap().split_whitespace().collect();
    (f[11].parse::<u64>().unwrap() + f[12].parse::<u64>().unwrap()) * 10
}
#[derive(Default)]
struct Tally {
    hold_ns: u64,
    commit_ns: u64,
    hold_wall: u128,
    commit_wall: u128,
    n: u64,
}

fn main() {
    let dir = std::env::args().nth(1).unwrap();
    let batches: usize = std::env::args().nth(2).unwrap().parse().unwrap();
    let batch: usize = std::env::args().nth(3).unwrap().parse().unwrap();
    let payload_bytes: usize = std::env::args().nth(4).unwrap().parse().unwrap();
    let store = SqliteStore::open(std::path::Path::new(&dir), Arc::new(Clock::wall())).unwrap();
    let mut w = store.writer(0).unwrap();
    let mut round = 0u64;
    let mut fence = 0u64;
    let queue = samples::queue("simple_task_type");
    let entry = vec![b'e'; 450 + payload_bytes];
    let payload = samples::payload(&format!("{{\"x\":\"{}\"}}", "y".repeat(payload_bytes)));
    let mut tallies: [Tally; 3] = Default::default();
    let began = Instant::now();
    let p0 = process_ms();
    for _ in 0..batches {
        let ids: Vec<ExecutionId> = (0..batch).map(|_| ExecutionId::draw()).collect();
        let mk_delivery = |id: ExecutionId, step: u32, now: Timestamp| Delivery {
            task: TaskId::derive(id, 0, "step", step, 0),
            execution: id,
            queue: queue.clone(),
            priority: 0,
            ready_at: now,
            seq: step,
            reference: format!("simple_task_{step}"),
            attempt: 0,
            scheduled_at: now,
            definition: Digest::of(b"d"),
            correlation_id: Some("correlation-1234".into()),
            replaces: None,
            reason: None,
            input: payload.clone(),
            output: Payload::empty(),
            hand_out: HandOut { armed: true, ..HandOut::default() },
        };
        let mut go = |kind: usize, touches: &Touches, make: &mut dyn FnMut(Held, &mut Writes)| {
            let (c, t) = (thread_ns(), Instant::now());
            let held = w.hold(touches).unwrap();
            let (c1, t1) = (thread_ns(), t.elapsed());
            round += 1;
            let mut writes = Writes {
                stamp: Stamp { lane: 0, round, at: held.now, fence: round },
                ..Writes::default()
            };
            make(held, &mut writes);
            let (c2, t2) = (thread_ns(), Instant::now());
            w.commit(writes).unwrap();
            let y = &mut tallies[kind];
            y.hold_ns += c1 - c;
            y.hold_wall += t1.as_nanos();
            y.commit_ns += thread_ns() - c2;
            y.commit_wall += t2.elapsed().as_nanos();
            y.n += batch as u64;
        };
        // start
        go(
            0,
            &Touches { heads: ids.iter().copied().collect(), ..Touches::default() },
            &mut |held, writes| {
                for id in &ids {
                    writes.entries.push((*id, 1, entry.clone()));
                    writes.heads.insert(
                        *id,
                        Head {
                            id: *id,
                            link: Link { seq: 1, digest: Digest::of(b"1") },
                            wake_at: None,
                            status: WorkflowStatus::Running,
                            parked: None,
                            name: "workflow_name".into(),
                            version: 1,
                            correlation_id: Some("correlation-1234".into()),
                            idempotency_key: None,
                            principal: "anonymous".into(),
                            started_at: held.now,
                            updated_at: held.now,
                            ended_at: Timestamp::NOT_YET,
                        },
                    );
                    let d = mk_delivery(*id, 0, held.now);
                    writes.deliveries.insert(samples::place_of(&d), Some(d));
                }
            },
        );
        for step in 0..3u32 {
            go(
                1,
                &Touches { wanted: [(queue.clone(), batch)].into(), ..Touches::default() },
                &mut |held, writes| {
                    assert_eq!(held.ready[&queue].len(), batch);
                    for place in &held.ready[&queue] {
                        let mut d = held.deliveries[place].clone().unwrap();
                        fence += 1;
                        d.hand_out = HandOut {
                            fence,
                            leased: true,
                            worker: Some("worker-host-1".into()),
                            lease_until: Some(held.now.plus_ms(60_000)),
                            started_at: held.now,
                            updated_at: held.now,
                            polls: 1,
                            token: Some(Digest::of(b"t")),
                            ..d.hand_out
                        };
                        writes.deliveries.insert(*place, Some(d));
                    }
                },
            );
            let places: Vec<Place> = ids
                .iter()
                .map(|id| Place { execution: *id, task: TaskId::derive(*id, 0, "step", step, 0) })
                .collect();
            go(
                2,
                &Touches {
                    heads: ids.iter().copied().collect(),
                    deliveries: places.iter().copied().collect(),
                    ..Touches::default()
                },
                &mut |held, writes| {
                    for place in &places {
                        let id = place.execution;
                        let mut head = held.heads[&id].clone().unwrap();
                        head.link.seq += 1;
                        head.link.digest = Digest::of(&[step as u8]);
                        head.updated_at = held.now;
                        if step == 2 {
                            head.status = WorkflowStatus::Completed;
                            head.ended_at = held.now;
                        }
                        writes.entries.push((id, head.link.seq, entry.clone()));
                        writes.heads.insert(id, head);
                        writes.deliveries.insert(*place, None);
                        if step < 2 {
                            let d = mk_delivery(id, step + 1, held.now);
                            writes.deliveries.insert(samples::place_of(&d), Some(d));
                        }
                    }
                },
            );
        }
    }
    let total: u64 = tallies.iter().map(|t| t.n).sum();
    let secs = began.elapsed().as_secs_f64();
    for (name, t) in ["start", "claim", "report"].iter().zip(&tallies) {
        let n = t.n as f64 * 1000.0;
        println!(
            "{name:7} hold cpu {:.2} wall {:.2}  commit cpu {:.2} wall {:.2} µs",
            t.hold_ns as f64 / n,
            t.hold_wall as f64 / n,
            t.commit_ns as f64 / n,
            t.commit_wall as f64 / n
        );
    }
    println!(
        "{total} transitions, {:.0}/s wall, process cpu {:.2} µs each; wal {} MiB db {} MiB",
        total as f64 / secs,
        (process_ms() - p0) as f64 * 1000.0 / total as f64,
        std::fs::metadata(format!("{dir}/semel.db-wal")).unwrap().len() >> 20,
        std::fs::metadata(format!("{dir}/semel.db")).unwrap().len() >> 20
    );
    let t = Instant::now();
    drop(w);
    drop(store);
    println!("close {:?}", t.elapsed());
    let t = Instant::now();
    drop(SqliteStore::open(std::path::Path::new(&dir), Arc::new(Clock::wall())).unwrap());
    println!("open+close {:?}", t.elapsed());
}
