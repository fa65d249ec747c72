/** `atrium/devtools`: a panel that shows a client at work, for development. */

export { ConnectionMonitor, type InspectedClient } from "./connection-monitor.ts";
export { type DevToolsOptions, openDevTools } from "./panel.ts";
