/** The page for an unknown URL. */
import { Link } from "wouter";
import { usePageTitle } from "./use-page-title.ts";

export function NotFound({ what }: { readonly what: string }) {
  usePageTitle("Not found");
  return (
    <main className="sign-in-layout" id="main">
      <h1>Not found</h1>
      <p>{what}</p>
      <p>
        <Link href="~/dashboard">Go to overview</Link>
      </p>
    </main>
  );
}
