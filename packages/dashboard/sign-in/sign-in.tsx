/** The sign-in page. */

import { isDashboardPage } from "@atrium/contract/sign-in.ts";
import { useState } from "react";
import { Link, Redirect, useLocation, useSearch } from "wouter";
import { useMe, useSignInRequest } from "../data/api.ts";
import { readRefusal } from "../data/messages.ts";
import { Loading } from "../ui/feedback.tsx";
import { Form } from "../ui/form.tsx";
import { Challenge, useSignInSetup } from "./challenge.tsx";
import { CodeField, CurrentPasswordField, EmailField, SignInLayout } from "./credentials.tsx";
import { PasskeySignIn } from "./passkey-sign-in.tsx";
import { ProviderButton } from "./provider.tsx";

export default function SignIn() {
  const search = useSearch();
  const [, go] = useLocation();
  const next = nextAfter(search);
  const enter = () => go(`~${next}`);
  const signIn = useSignInRequest("sign-in", enter);
  // The refusal that first asked for a code: a question, and no mistake.
  const [question, setQuestion] = useState<Error | null>(null);
  if (question === null && signIn.error && readRefusal(signIn.error.message)?.field === "code")
    setQuestion(signIn.error);
  const error = signIn.error === question ? null : signIn.error;
  const hasPasswords = useSignInSetup().data?.passwords ?? true;
  const { me, isPending } = useMe();
  if (isPending) return <Loading />;
  if (me !== null) return <Redirect to={`~${next}`} replace />;
  return (
    <SignInLayout title="Sign in">
      {hasPasswords && (
        <>
          <Form submitLabel="Sign in" action={{ ...signIn, error }} toInput={(fields) => fields}>
            <EmailField autoFocus autoComplete="username webauthn" />
            <CurrentPasswordField />
            <p role="status" className={question === null ? "hidden" : undefined}>
              {question !== null && "Enter a code of your second factor."}
            </p>
            {question !== null && <CodeField autoFocus />}
            <Challenge error={signIn.error} />
          </Form>
          <PasskeySignIn onDone={enter} />
        </>
      )}
      <ProviderButton next={next} />
      {hasPasswords && (
        <>
          <p className="soft">
            <Link href="/forgot-password">Forgot your password?</Link>
          </p>
          <p className="soft">
            New here? <Link href={`/sign-up${search && `?${search}`}`}>Sign up</Link>
          </p>
        </>
      )}
    </SignInLayout>
  );
}

/** Only pages of this dashboard, so that a link to sign in cannot redirect to another site. */
function nextAfter(search: string): string {
  const next = new URLSearchParams(search).get("next") ?? "";
  return isDashboardPage(next) ? next : "/dashboard";
}
