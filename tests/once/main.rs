//! # Once: what is asked again and again happens once, whenever the server dies
//!
//! A whole server in this process, over a real socket, that ends after any commit before it has
//! answered. The table of routes and the raw requests are those of the door.

mod duplicates;
mod gates;
mod house;
#[path = "../door/keyed_routes.rs"]
mod keyed_routes;
mod kills;
mod overtaken;
mod parked;
mod polls;
#[expect(dead_code, reason = "the door sends more kinds of requests")]
#[path = "../door/raw.rs"]
mod raw;
#[path = "../door/routes.rs"]
mod routes;
#[path = "../door/samples.rs"]
mod samples;
mod storage;
