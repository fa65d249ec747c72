/** The page that the company's provider sends the browser back to: it ends what was begun, and goes on by itself. */

import type { Me, OidcOutcome } from "@atrium/contract/rest/people.ts";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { Link, useLocation, useSearch } from "wouter";
import { callDashboard, latestOrganizationOf, useMe } from "../data/api.ts";
import { Button } from "../ui/button.tsx";
import { ErrorMessage, Loading } from "../ui/feedback.tsx";
import { SignInLayout } from "./credentials.tsx";

export default function ProviderReturn() {
  const query = useSearch();
  const queries = useQueryClient();
  const [, go] = useLocation();
  const goOn = ({ next }: OidcOutcome) => go(`~${next}`, { replace: true });
  const { mutate, data, error } = useMutation({
    mutationFn: () => callDashboard<OidcOutcome>("POST", "oidc/finish", { query }),
    onSuccess: (result) => {
      queries.clear();
      if (result.outcome !== "taken_over") goOn(result);
    },
  });
  useEffect(() => mutate(), [mutate]);
  if (error !== null) return <Refused {...{ query, error }} />;
  if (data?.outcome !== "taken_over") return <Loading />;
  return (
    <SignInLayout title="Your account begins anew">
      <p>
        An account with your email address existed. It is yours from now on, and you sign in to it by your
        company's provider. Its password, its other ways to sign in and its sessions have ended.
      </p>
      <p>
        Was it not you who made it? Look through the API keys and members of its organizations, in Settings,
        before you use them.
      </p>
      <Button variant="primary" onClick={() => goOn(data)}>
        Continue
      </Button>
    </SignInLayout>
  );
}

interface RefusedProps {
  /** The provider's answer. */
  readonly query: string;
  readonly error: Error;
}

function Refused({ query, error }: RefusedProps) {
  const { me, isPending } = useMe();
  if (isPending) return <Loading />;
  if (me !== null) return <NotConnected {...{ query, error, me }} />;
  return (
    <SignInLayout title="Sign in">
      <ErrorMessage error={error} />
      <p>
        <Link href="/sign-in">Back to sign in</Link>
      </p>
    </SignInLayout>
  );
}

/** Someone who is signed in comes from the settings. */
function NotConnected({ query, error, me }: RefusedProps & { readonly me: Me }) {
  const organization = latestOrganizationOf(me);
  const isDenied = new URLSearchParams(query).get("error") === "access_denied";
  return (
    <SignInLayout title="Account not connected">
      {isDenied ? (
        <p role="status">
          You cancelled, or your company's provider does not admit you to this service. Nothing has changed,
          and you are still signed in.
        </p>
      ) : (
        <ErrorMessage error={error} />
      )}
      <p>
        {organization === undefined ? (
          <Link href="/">Back to the dashboard</Link>
        ) : (
          <Link href={`/${organization.id}/settings/sign-in`}>Back to Settings, Sign-in</Link>
        )}
      </p>
    </SignInLayout>
  );
}
