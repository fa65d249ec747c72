/** The page of a link for a new password. */

import type { PasswordByLink, PasswordLinkPreview } from "@atrium/contract/rest/people.ts";
import { useQuery } from "@tanstack/react-query";
import { Link, useLocation, useParams } from "wouter";
import { callDashboard, useSignInRequest } from "../data/api.ts";
import { ErrorMessage, Loading } from "../ui/feedback.tsx";
import { Form } from "../ui/form.tsx";
import { NewPasswordField, SignInLayout } from "./credentials.tsx";

export default function PasswordLink() {
  const { token = "" } = useParams();
  const path = `password-links/${encodeURIComponent(token)}`;
  const [, go] = useLocation();
  const link = useQuery({
    queryKey: ["password-link", token],
    queryFn: () => callDashboard<PasswordLinkPreview>("GET", path),
    // Used up by the form below: to ask again then would only fail.
    staleTime: Number.POSITIVE_INFINITY,
  });
  const change = useSignInRequest<PasswordByLink>(path, ({ signed_in }) => signed_in && go("/"));
  if (change.data?.signed_in === false) {
    return (
      <SignInLayout title="Your password is changed">
        <p className="soft">Your second factor stays as it is: sign in with the new password and a code.</p>
        <p>
          <Link href="/sign-in">Sign in</Link>
        </p>
      </SignInLayout>
    );
  }
  if (link.error) {
    return (
      <SignInLayout title="This link is no longer valid">
        <ErrorMessage error={link.error} />
        <p>
          <Link href="/forgot-password">Get a new one</Link>
        </p>
      </SignInLayout>
    );
  }
  if (link.data === undefined) return <Loading />;
  return (
    <SignInLayout title="Choose a new password">
      <p className="soft">
        For {link.data.name}, {link.data.email}. You are signed out everywhere else. Your passkeys stay:
        remove those that you do not know in Settings, Sign-in.
      </p>
      <Form submitLabel="Save and sign in" action={change} toInput={({ password = "" }) => ({ password })}>
        {/* So that password managers know whose password it is. */}
        <input type="hidden" name="username" autoComplete="username" value={link.data.email} readOnly />
        <NewPasswordField label="New password" />
      </Form>
    </SignInLayout>
  );
}
