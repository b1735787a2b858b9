//! # Overtaken: a request that another node has answered while this one serves it
//!
//! When a request is answered, what its steps were told is forgotten. Whoever still serves it must
//! not take that for work that nobody has done yet.

use std::sync::Arc;

use semel_model::Digest;
use semel_runtime::{KeyedRequest, RequestKey, StoredAnswer};

use crate::house::House;

#[test]
fn a_step_of_a_request_that_is_answered_is_not_done_again() {
    let house = House::built();
    let runtime = house.runtime();
    house.tokio().block_on(async {
        let shop = runtime.add_application("shop", "me").await.unwrap();
        let named = RequestKey::new("me", "k", Digest::of(b"add a key"), "r");
        let first = Arc::new(KeyedRequest::new(named.clone(), runtime.now(), None));
        first.serve(runtime.add_access_key(&shop.id, "me")).await.unwrap();
        let until = Some(first.expires_at());
        let late = Arc::new(KeyedRequest::new(named, runtime.now(), until)); // It has seen a beginning.
        let answer = StoredAnswer { status: 200, headers: vec![], body: "done".to_owned() };
        runtime.settle_request(&first, answer).await.unwrap();

        late.serve(runtime.add_access_key(&shop.id, "me")).await.unwrap_err();

        assert!(late.is_overtaken());
        let shop = runtime.change_application(&shop.id, "me", |_| Ok(())).await.unwrap();
        assert_eq!(shop.keys.len(), 1);
    });
}
