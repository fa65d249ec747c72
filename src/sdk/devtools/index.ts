/** `atrium/devtools`: a panel that shows what a client does, for the time of development. */

export { ConnectionMonitor, type InspectedClient } from "./connection-monitor.ts";
export { type DevToolsOptions, openDevTools } from "./panel.ts";
