use super::*;

const SCENARIO: &str = r#"{
    "stop_time": "1s", "nodes": ["a", "b"],
    "links": [{"name": "link", "ends": ["a", "b"], "rate": "10Mbps", "delay": "5ms"}],
    "flows": [{"source": "a", "destination": "b", "cc": {"type": "cubic"}}]
}"#;

fn session(settings: &str) -> Session {
    let mut session = Session::new();
    assert!(session.open(SCENARIO, settings).unwrap().0);
    session
}

#[test]
fn a_simulation_in_steps_ends_as_one_in_one_go() {
    let mut stepped = session("");
    let mut steps = 0;
    while stepped.advance(100).unwrap().0 {
        steps += 1;
        assert!(!stepped.so_far().unwrap().1.is_empty());
    }
    assert!(steps > 10);
    assert_eq!(stepped.finish(), session("").finish());
    assert!(stepped.finish().unwrap_err().contains("open"));
}

#[test]
fn steps_tell_the_time() {
    let mut session = session("");
    while session.advance(1000).unwrap().0 {}
    let (_, times) = session.advance(1).unwrap();
    let times: Vec<_> =
        times.chunks(8).map(|t| u64::from_le_bytes(t.try_into().unwrap())).collect();
    assert_eq!(times, [1_000_000_000, 1_000_000_000]);
}

#[test]
fn settings_are_what_is_simulated() {
    let (_, settings) = session::settings(SCENARIO).unwrap();
    assert!(String::from_utf8(settings).unwrap().contains(r#""rate":"10Mbps""#));
    let (_, opened) = Session::new().open(SCENARIO, r#"{"rate": "1Mbps"}"#).unwrap();
    assert!(String::from_utf8(opened).unwrap().contains(r#""rate":"1Mbps""#));
    assert_ne!(session(r#"{"rate": "1Mbps"}"#).finish(), session("").finish());
}

#[test]
fn what_is_wrong_is_told_with_its_field() {
    let told = Session::new().open(SCENARIO, r#"{"rtt": "1", "qdisc": "codle"}"#).unwrap_err();
    assert!(told.contains(r#""path":"rtt""#) && told.contains(r#""path":"qdisc""#), "{told}");
    assert!(Session::new().open("{}", "").unwrap_err().contains("stop_time"));
    let user = SCENARIO.replace("cubic", "./own.so");
    assert!(Session::new().open(&user, "").is_err());
}

#[test]
fn packed_values_are_aligned() {
    let (_, block) = session("").finish().unwrap();
    assert_eq!(block.len() % 8, 0);
}

#[test]
fn functions_hand_over_input_and_output() {
    let text = SCENARIO.as_bytes();
    input(text.len());
    INPUT.with_borrow_mut(|input| input.copy_from_slice(text));
    assert_eq!(open(text.len()), MORE);
    assert!(OUTPUT.with_borrow(|output| output.starts_with(b"{\"label\"")));
    assert_eq!(advance(10), MORE);
    assert_eq!(finish(), DONE);
    assert_eq!(output_length() % 8, 0);
    assert_eq!(advance(10), FAILED);
}
