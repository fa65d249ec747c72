/** A site with an empty page that has the bundled client, on another origin than the service. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import type { AtriumClient } from "atrium/client";
import type { openInbox } from "atrium/inbox";
import type { keepOffline } from "atrium/offline";
import { runCli } from "../cli/processes.ts";

const PAGE = `<!doctype html><link rel=icon href=data:,>
  <script type=module>
    import { AtriumClient } from "./client.js";
    import { openInbox } from "./inbox.js";
    import { keepOffline } from "./offline.js";
    Object.assign(window, { Client: AtriumClient, keepOffline, openInbox });
  </script>`;

/** The service worker of the page, which does not register it by itself. */
const WORKER = `import { showPushNotifications } from "./push-worker.js"; showPushNotifications();`;

/** The state that the page exposes to a test. */
declare global {
  interface Window {
    Client: typeof AtriumClient;
    keepOffline: typeof keepOffline;
    openInbox: typeof openInbox;
    client: AtriumClient;
    states: string[];
  }
}

/** Gets the path and the body of a request. */
type Posted = (to: string, body: string) => void;

export class ClientSite {
  readonly #directory: string;
  readonly #server: Server;

  private constructor(directory: string, page: string, posted: Posted) {
    this.#directory = directory;
    this.#server = createServer(async (request, response) => {
      const { method, url = "/" } = request;
      if (method === "POST") {
        posted(url, await text(request));
        response.end();
        return;
      }
      const isScript = url.endsWith(".js");
      response.setHeader("Content-Type", isScript ? "text/javascript" : "text/html");
      response.end(isScript ? await readFile(path.join(directory, path.basename(url))) : page);
    });
  }

  /** Bundles the client, and serves it with a page, of which `posted` gets what it posts. */
  static async start(page: string = PAGE, posted: Posted = () => {}): Promise<ClientSite> {
    const directory = await mkdtemp(path.join(tmpdir(), "atrium-bundle-"));
    const { exitCode, stderr } = await runCli("build.ts", ["--out", directory]);
    if (exitCode !== 0) throw new Error(`The client could not be bundled: ${stderr}`);
    await writeFile(path.join(directory, "worker.js"), WORKER);
    const site = new ClientSite(directory, page, posted);
    await new Promise<void>((resolve) => site.#server.listen(0, resolve));
    return site;
  }

  get url(): string {
    const address = this.#server.address();
    return typeof address === "object" && address !== null ? `http://localhost:${address.port}` : "";
  }

  /** Serves another script beside the client. */
  add(file: string, script: string): Promise<void> {
    return writeFile(path.join(this.#directory, file), script);
  }

  async stop(): Promise<void> {
    this.#server.close();
    await rm(this.#directory, { recursive: true, force: true });
  }
}
