/** A page with a client and the DevTools of it. */
import { AtriumClient } from "atrium/client";
import { openDevTools } from "atrium/devtools";

export interface DevToolsStage {
  readonly client: AtriumClient;
  /** Removes the panel. */
  readonly close: () => void;
}

declare global {
  interface Window {
    begin(token: string): Promise<void>;
    devtools: DevToolsStage;
  }
}

window.begin = async (authToken) => {
  const client = new AtriumClient({ serverUrl: location.origin, authToken });
  window.devtools = { client, close: openDevTools(client) };
  await client.join();
  await client.store("tasks").sync();
};
