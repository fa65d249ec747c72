/** A page that joins a room and reports its events to its site, with timers that a browser throttles. */

/** Message from a page about itself. */
export interface Report {
  /** The tab itself, or a frame of another site in it. */
  readonly from: "tab" | "frame";
  readonly event: "joined" | "ticked" | "shown" | "hidden" | "received" | "reconnecting" | "reconnected";
  /** Data that the page received. */
  readonly data: unknown;
  /** Milliseconds since the page began. */
  readonly at: number;
}

/** Where the site takes reports. */
export const REPORTS = "/reports";

/** The page joins with the parameters of its address, and opens the address `frame`, if there is one, in a frame. */
export const HIDDEN_PAGE = `<!doctype html><link rel=icon href=data:,>
  <script type=module>
    import { AtriumClient } from "./client.js";
    const { from, serverUrl, authToken, frame } = Object.fromEntries(new URLSearchParams(location.search));
    const report = (event, data = null) => {
      const body = JSON.stringify({ from, event, data, at: performance.now() });
      void fetch("${REPORTS}", { method: "POST", body });
    };
    document.addEventListener("visibilitychange", () => report(document.visibilityState === "hidden" ? "hidden" : "shown"));
    const client = new AtriumClient({ serverUrl, authToken });
    for (const event of ["reconnecting", "reconnected"]) client.socket.on(event, () => report(event));
    client.notifications.on("minute", (data) => report("received", data));
    await client.join();
    report("joined");
    const tick = () => {
      report("ticked");
      setTimeout(tick, 1000);
    };
    tick();
    if (frame) document.body.append(Object.assign(document.createElement("iframe"), { src: frame }));
  </script>`;
