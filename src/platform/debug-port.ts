/** The port to another workerd on this machine: a binding of workerd itself, without types of its own. */

type RemoteEntrypoint = object;

export interface DebugPort {
  /** The workerd that listens at the address, such as `unix:/path`. */
  connect(address: string): Promise<RemoteWorkerd>;
}

interface RemoteWorkerd {
  getEntrypoint(service: string, entrypoint: string): Promise<RemoteEntrypoint>;
}
