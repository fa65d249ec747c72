/** Where somebody wanted to go before they were asked who they are. */

/** A page of this dashboard, and nothing else: the address bar is no place to send people elsewhere from. */
export function nextAfter(search: string): string {
  const next = new URLSearchParams(search).get("next") ?? "";
  return /^\/dashboard\/[\w\-/]*$/.test(next) ? next : "/dashboard";
}
