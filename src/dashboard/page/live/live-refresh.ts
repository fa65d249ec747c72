/** How often live data is polled, in milliseconds. */
export const LIVE_REFRESH_MS = 2000;
