//! More flows, or fewer.
//!
//! In a dumbbell, a parking lot or a star each flow has hosts of its own at the end of one link.  Then
//! a further flow gets such hosts, too, numbered and addressed as the topology would have done it; and
//! with a flow go its hosts.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;

use ccperf_schema::written::{Flow, Link, Scenario};

/// For a page that answers while a slider moves; each new flow looks at all that are there.
const MOST: usize = 1000;

pub fn set_count(scenario: &mut Scenario, count: u64) -> Result<(), String> {
    if scenario.flows.is_empty() {
        return Err("the scenario has no flow to copy".to_owned());
    }
    if count == 0 {
        return Err("0 flows leave nothing to simulate; write 1 or more".to_owned());
    }
    let most = MOST.max(scenario.flows.len());
    let too_many =
        || format!("{count} flows are more than {most}, as many as can be asked for here");
    let count = usize::try_from(count).ok().filter(|&count| count <= most).ok_or_else(too_many)?;
    let templates = scenario.flows.len();
    while scenario.flows.len() < count {
        add(scenario, templates)?;
    }
    while scenario.flows.len() > count {
        remove_last(scenario);
    }
    Ok(())
}

/// One flow more, like the one at its place among the first `templates`.
fn add(scenario: &mut Scenario, templates: usize) -> Result<(), String> {
    let number = scenario.flows.len();
    let (template, previous) = (number % templates, number - 1);
    let mut flow = Flow {
        name: None,
        source_port: None,
        destination_port: None,
        ..scenario.flows[template].clone()
    };
    let mut links = Vec::new();
    for end in 0..2 {
        let host = ends(&scenario.flows[template])[end].clone();
        let Some(link) = own_link(scenario, &host) else { continue };
        let name = numbered(&host, number, |name| scenario.nodes.iter().any(|node| node == name))?;
        links.push(further_link(scenario, link, &host, &name, number, number - template)?);
        let after = ends(&scenario.flows[previous])[end];
        let place = scenario.nodes.iter().position(|node| node == after);
        scenario.nodes.insert(place.map_or(scenario.nodes.len(), |i| i + 1), name.clone());
        *[&mut flow.source, &mut flow.destination][end] = name;
    }
    let neighbours = ends(&scenario.flows[previous]);
    let is_before = |link: &Link| neighbours.iter().any(|&host| link.ends.contains(host));
    let place = scenario.links.iter().rposition(is_before).map_or(scenario.links.len(), |i| i + 1);
    scenario.links.splice(place..place, links);
    scenario.flows.push(flow);
    Ok(())
}

fn remove_last(scenario: &mut Scenario) {
    let hosts: BTreeSet<String> = scenario
        .flows
        .last()
        .into_iter()
        .flat_map(ends)
        .filter(|host| own_link(scenario, host).is_some())
        .cloned()
        .collect();
    scenario.flows.pop();
    scenario.links.retain(|link| !link.ends.iter().any(|end| hosts.contains(end)));
    scenario.nodes.retain(|node| !hosts.contains(node));
}

fn ends(flow: &Flow) -> [&String; 2] {
    [&flow.source, &flow.destination]
}

/// The one link of a host that serves one flow only and nothing else.
fn own_link(scenario: &Scenario, host: &String) -> Option<usize> {
    let users = scenario.flows.iter().flat_map(ends).filter(|&end| end == host).count();
    let pings = scenario.pings.iter().any(|ping| ping.source == *host || ping.destination == *host);
    let mut links = scenario.links.iter().enumerate().filter(|(_, link)| link.ends.contains(host));
    let (index, _) = links.next()?;
    (users == 1 && !pings && scenario.workloads.is_empty() && links.next().is_none())
        .then_some(index)
}

/// A link like this one for a host like this one; `step`: how many flows further on.
fn further_link(
    scenario: &Scenario,
    link: usize,
    host: &str,
    new_host: &str,
    number: usize,
    step: usize,
) -> Result<Link, String> {
    let mut link = scenario.links[link].clone();
    let is_taken = |name: &str| scenario.links.iter().any(|link| link.name == name);
    link.name = if link.name == host && !is_taken(new_host) {
        new_host.to_owned()
    } else {
        numbered(&link.name, number, is_taken)?
    };
    for end in link.ends.iter_mut().filter(|end| *end == host) {
        new_host.clone_into(end);
    }
    link.addresses = link.addresses.and_then(|pair| moved(scenario, &pair, step));
    Ok(link)
}

/// Networks of access links are /30s, one behind the other.  `None`: these are in use.
fn moved(scenario: &Scenario, pair: &[String; 2], step: usize) -> Option<[String; 2]> {
    let mut found = pair.clone();
    for address in &mut found {
        let bits = address.parse::<Ipv4Addr>().ok()?.to_bits();
        let further = bits.checked_add(u32::try_from(4 * step).ok()?)?;
        *address = Ipv4Addr::from_bits(further).to_string();
    }
    let in_use = |pair: &[String; 2]| pair.iter().any(|address| found.contains(address));
    let mut known = scenario.links.iter().filter_map(|link| link.addresses.as_ref());
    (!known.any(in_use)).then_some(found)
}

/// `src_0` becomes `src_7`; a name without a number gets one.
fn numbered(name: &str, number: usize, is_taken: impl Fn(&str) -> bool) -> Result<String, String> {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let stem = if stem == name { format!("{name}_") } else { stem.to_owned() };
    let names = (number..number + 10_000).map(|number| format!("{stem}{number}"));
    names
        .into_iter()
        .find(|name| !is_taken(name))
        .ok_or_else(|| format!("there is no free name like `{name}`"))
}
