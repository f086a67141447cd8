/** What every operation on local clusters takes. */
export interface BackendOptions {
  /** Receives a line when something that takes time begins or ends. */
  progress?: (line: string) => void;
  signal?: AbortSignal;
}
