/** Aborted by the first SIGTERM or SIGINT. The second ends the process at once. Loads nothing else, so that it can come before everything. */
export function terminationSignal(): AbortSignal {
  const ending = new AbortController();
  const end = () => {
    if (ending.signal.aborted) process.exit(130);
    ending.abort();
  };
  process.on("SIGTERM", end);
  process.on("SIGINT", end);
  return ending.signal;
}
