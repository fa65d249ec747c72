/** What stands in place of a page for an unknown URL; its frame has the landmark. */
import { Link } from "wouter";
import { usePageTitle } from "./use-page-title.ts";

export function NotFound({ what }: { readonly what: string }) {
  usePageTitle("Not found");
  return (
    <div className="sign-in-layout">
      <h1>Not found</h1>
      <p>{what}</p>
      <p>
        <Link href="~/dashboard">Go to overview</Link>
      </p>
    </div>
  );
}
