"use strict";

// From the tables of a recording to what figures show, as metrics and figures of the package do it.
//
//   ccperf.quantities(tables, about) -> run
//
// tables: { flows, links, flow_samples, link_samples }, each an object of columns of one length (the
// columns of the contract). about: { id, name, seed, flows: [{ algorithm, segment, headers, transport }],
// links: [{ qdisc, rates }], isMoving }, one entry a row of the tables flows and links; headers are all bytes
// of a full segment but its payload, rates are pairs of a time in ns and the rate in bit/s from then on, isMoving
// says that delays of links change.
// run: { id, name, algorithm (under test; of packed runs only), seed, flows, links, all, columns: { throughput: [{ x, y } ...], ... }, means, answers }.
globalThis.ccperf ??= {};
{
  // 2^31 - 1 and 2^32 - 1 stand for no bound.
  const UNBOUNDED = 2 ** 31 - 1;

  // Rows ordered by (time, subject) as columns over time.
  const grid = (table, subject) => {
    const rows = table.time_ns.length;
    let wide = 0;
    while (wide < rows && table.time_ns[wide] === table.time_ns[0]) wide++;
    const long = wide ? rows / wide : 0;
    const subjects = Array.from({ length: wide }, (_, i) => Number(table[subject][i]));
    const x = Float64Array.from({ length: Math.max(0, long - 1) }, (_, k) =>
      Number(table.time_ns[(k + 1) * wide]) / 1e9);
    const times = Array.from({ length: long }, (_, k) => Number(table.time_ns[k * wide]));
    const interval = long > 1 ? Number(table.time_ns[wide]) - Number(table.time_ns[0]) : 0;
    const column = (name, index, value) => ({
      x, y: Float64Array.from(x, (_, k) =>
        value(table[name], (k + 1) * wide + index, k * wide + index)),
    });
    return {
      subjects, x, times,
      state: (name, scale) => subjects.map((_, i) =>
        column(name, i, (values, now) => scale(Number(values[now]), i))),
      increase: (name) => subjects.map((_, i) =>
        column(name, i, (values, now, before) => Number(values[now]) - Number(values[before]))),
      // Mbps, rounded down to whole bit/s.
      rate: (name) => subjects.map((_, i) => column(name, i, (values, now, before) =>
        Math.floor((Number(values[now]) - Number(values[before])) * 8 * (1e9 / interval) + 1e-6) / 1e6)),
    };
  };

  const mean = (values) => {
    let sum = 0, count = 0;
    for (const value of values) if (!Number.isNaN(value)) { sum += value; count++; }
    return count ? sum / count : NaN;
  };

  // The congestion state of each flow from its start until `end`, in s, of a table of changes: x are the
  // ends of its times in a state, y which state that was. A connection begins Open.
  ccperf.states = ({ changes, flows: { start_ns } }, flows, end) => {
    const found = new Map(flows.map((flow) => [flow, { x: [], y: [0] }]));
    for (let row = 0; row < changes.name.length; row++) {
      if (changes.name[row] !== "cong_state") continue;
      const steps = found.get(Number(changes.flow[row]));
      steps?.x.push(Number(changes.time_ns[row]) / 1e9);
      steps?.y.push(changes.value[row]);
    }
    return flows.map((flow) => ({
      x: [...found.get(flow).x, end], y: found.get(flow).y, begins: Number(start_ns[flow]) / 1e9,
    }));
  };

  ccperf.quantities = (tables, about) => {
    const flows = grid(tables.flow_samples, "flow");
    const links = grid(tables.link_samples, "link");
    const tcp = flows.subjects.map((flow) => (about.flows[flow]?.transport ?? "TCP") === "TCP");
    const segment = flows.subjects.map((flow) => about.flows[flow]?.segment ?? 536);
    const names = [...tables.links.name];
    const bottleneck = flows.subjects.map((flow) => names.indexOf(tables.flows.bottleneck[flow]));
    const used = links.subjects.flatMap((link, i) => (bottleneck.includes(link) ? [i] : []));
    const only = (columns) => used.map((i) => columns[i]);
    const qdisc = (value, i) => ((about.links[links.subjects[i]]?.qdisc ?? true) ? value : NaN);
    const segments = (bytes, i) => (tcp[i] ? bytes / segment[i] : NaN);
    const bounded = (bytes, i) => (bytes >= UNBOUNDED ? NaN : segments(bytes, i));

    const rate = links.state("rate_bps", (bps) => bps / 1e6);
    // One that changes within an interval has its mean there.
    links.subjects.forEach((link, i) => {
      const steps = about.links[link]?.rates ?? [];
      if (steps.length < 2) return;
      let first = 0;
      const { x, y } = rate[i];
      rate[i] = { x, y: y.map((value, k) => {
        const [begin, end] = [links.times[k], links.times[k + 1]];
        while (steps[first + 1]?.[0] <= begin) first++;
        let bits = 0, from = begin, last = first;
        for (; steps[last + 1]?.[0] < end; last++) {
          bits += steps[last][1] * (steps[last + 1][0] - from);
          from = steps[last + 1][0];
        }
        return last === first ? value : (bits + steps[last][1] * (end - from)) / (end - begin) / 1e6;
      }) };
    });
    const sent = links.rate("tx_bytes");
    // States and rates of a flow begin and end with it; metrics are of the whole run.
    const starts = flows.subjects.map((flow) => Number(tables.flows.start_ns[flow]));
    const ends = flows.subjects.map((flow, i) => Number(tables.flows[tcp[i] ? "completion_ns" : "stop_ns"][flow]));
    const living = (series) => series.map(({ x, y }, i) => ({
      x, y: y.map((value, k) => (flows.times[k] >= ends[i] || flows.times[k + 1] <= starts[i] ? NaN : value)),
    }));
    const samples = {
      throughput: flows.rate("received_bytes"),
      srtt: living(flows.state("srtt_ns", (ns) => Math.floor(ns / 1e3 + 0.5) / 1e3)),
    };
    const columns = {
      throughput: living(samples.throughput),
      srtt: samples.srtt,
      in_flight: living(flows.state("in_flight_bytes", segments)),
      cwnd: living(flows.state("cwnd_bytes", bounded)),
      ssthresh: living(flows.state("ssthresh_bytes", bounded)),
      retransmissions: flows.increase("retransmissions"),
      rtos: flows.increase("rtos"),
      utilisation: only(sent.map(({ x, y }, i) => ({
        x, y: y.map((value, k) => (rate[i].y[k] > 0 ? 100 * value / rate[i].y[k] : NaN)),
      }))),
      length: only(links.state("qdisc_packets", qdisc)),
      // What left last counts only where something has left.
      sojourn: only(links.state("sojourn_ns", (ns, i) => qdisc(ns / 1e6, i)).map(({ x, y }, i) => ({
        x, y: y.map((value, k) => (sent[i].y[k] > 0 ? value : NaN)),
      }))),
      drops: only(links.increase("qdisc_dropped")),
      marks: only(links.increase("qdisc_marked")),
    };

    // The best that the network allows, where it is the same for all flows.
    const carried = flows.subjects.map((flow, i) => segment[i] / (segment[i] + (about.flows[flow]?.headers ?? 54)));
    const rtt = flows.subjects.map((flow) => Number(tables.flows.base_rtt_ns[flow]) / 1e6);
    const [port] = bottleneck;
    const alike = bottleneck.every((one) => one === port) && links.subjects.includes(port);
    if (rtt.length && !about.isMoving && rtt.every((one) => one === rtt[0])) {
      columns.optimum_srtt = [{ x: flows.x, y: flows.x.map(() => rtt[0]) }];
    }
    if (alike && bottleneck.length && tcp.every(Boolean) && carried.every((one) => one === carried[0])) {
      const { y } = rate[links.subjects.indexOf(port)];
      // An equal share is one only while all that share may send.
      const of = (name) => flows.subjects.map((flow) => Number(tables.flows[name][flow]));
      const completed = of("completion_ns").map((ns) => (Number.isNaN(ns) ? Infinity : ns));
      const [first, last] = [Math.max(...of("start_ns")), Math.min(...of("stop_ns"), ...completed)];
      const together = (k) => flows.times[k] >= first && flows.times[k + 1] <= last;
      const share = y.map((value, k) => (together(k) ? value * carried[0] / bottleneck.length : NaN));
      const isAny = share.some((value) => !Number.isNaN(value));
      if (isAny) columns.optimum_throughput = [{ x: flows.x, y: share }];
      if (isAny && columns.optimum_srtt && segment.every((one) => one === segment[0])) {
        columns.optimum_in_flight = [{
          x: flows.x, y: share.map((value) => value * rtt[0] * 1e3 / (8 * segment[0])),
        }];
      }
    }
    // The metrics of these names, one value of all flows or bottlenecks (runs/metrics).
    const over = (values) => mean(values.filter((value) => !Number.isNaN(value)));
    const sums = Array.from(flows.x, (_, k) => {
      const known = samples.throughput.map(({ y }) => y[k]).filter((value) => !Number.isNaN(value));
      return known.length ? known.reduce((a, b) => a + b, 0) : NaN;
    });
    const count = (name, i) => Number(tables.links[name][links.subjects[i]]);
    const answers = {
      mean_agg_throughput_l4: mean(sums),
      mean_srtt_l4: over(samples.srtt.map(({ y }) => mean(y))),
      mean_sojourn_l2: 1e3 * over(columns.sojourn.map(({ y }) => mean(y))),
      loss_rate_l2: over(used.map((i) => {
        const before = count("qdisc_dropped", i) + count("device_dropped", i) + count("failure_dropped", i);
        return 100 * (before + count("loss_dropped", i)) / (before + count("tx_packets", i));
      })),
      total_retransmissions_l4: tcp.some(Boolean) ? flows.subjects
        .reduce((sum, flow, i) => sum + (tcp[i] ? Number(tables.flows.retransmissions[flow]) : 0), 0) : NaN,
    };

    return {
      id: about.id, name: about.name, seed: about.seed, columns, samples,
      answers: ccperf.layout.answers.map(([name]) => answers[name]),
      ...(tables.changes ? { states: ccperf.states(tables, flows.subjects, flows.x.at(-1) ?? 0) } : {}),
      flows: flows.subjects.map((flow) => ({
        name: tables.flows.name[flow], algorithm: about.flows[flow]?.algorithm ?? "",
      })),
      links: used.map((i) => ({ name: names[links.subjects[i]] })),
      all: tables.flows.name.length,
      means: {
        throughput: samples.throughput.map(({ y }) => mean(y)),
        srtt: samples.srtt.map(({ y }) => mean(y)),
      },
      begins: (flows.times[0] ?? 0) / 1e9, end: flows.x.at(-1) ?? 0,
    };
  };
}
