import { Counter, Gauge, Registry } from "prom-client";

/** A registry that knows the process: its memory and its CPU time, under the names that dashboards expect. */
export function createRegistry(): Registry {
  const metrics = new Registry();
  const registers = [metrics];
  new Gauge({
    name: "process_resident_memory_bytes",
    help: "Resident memory",
    registers,
    collect() {
      this.set(process.memoryUsage.rss());
    },
  });
  new Gauge({
    name: "nodejs_heap_size_used_bytes",
    help: "Used part of the JavaScript heap",
    registers,
    collect() {
      this.set(process.memoryUsage().heapUsed);
    },
  });
  new Counter({
    name: "process_cpu_seconds_total",
    help: "CPU time, user and system",
    registers,
    collect() {
      const { user, system } = process.cpuUsage();
      this.reset();
      this.inc((user + system) / 1e6);
    },
  });
  new Gauge({
    name: "process_start_time_seconds",
    help: "When the process began, seconds since 1970",
    registers,
  }).set(Math.round(Date.now() / 1000 - process.uptime()));
  return metrics;
}
