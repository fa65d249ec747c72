/** `atrium/devtools`: a panel that shows what a client does, for the time of development. */

export { ConnectionMonitor } from "./connection-monitor.ts";
export { type DevToolsOptions, openDevTools } from "./panel.ts";
export type { InspectedClient } from "./views.ts";
