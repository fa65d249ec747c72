/** The page of the first owner: sign up by the code that `npm run deploy` prints. */

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link, useLocation } from "wouter";
import { callDashboard, ME, useMe } from "../data/api.ts";
import { Loading } from "../ui/feedback.tsx";
import { Form } from "../ui/form.tsx";
import { useSignInSetup } from "./challenge.tsx";
import { SignInLayout } from "./credentials.tsx";
import type { ProviderStart } from "./provider.tsx";
import { CodeField, SignUpForm } from "./sign-up.tsx";

export default function Setup() {
  const { me, isPending } = useMe();
  if (isPending) return <Loading />;
  return (
    <SignInLayout title="First owner">
      <p className="soft">The code works once, for an hour, as long as no one can sign in.</p>
      {me === null ? <SetUpAsNew /> : <SetUpAs name={me.person.name} />}
    </SignInLayout>
  );
}

function SetUpAsNew() {
  const { data } = useSignInSetup();
  return (
    <>
      {data?.passwords === false ? <SetUpByProvider name={data.oidc?.name} /> : <SignUpForm isSetup />}
      <p className="soft">
        Already have an account? <Link href="/sign-in?next=/dashboard/setup">Sign in</Link>
      </p>
    </>
  );
}

function SetUpByProvider({ name }: { readonly name: string | undefined }) {
  const start = useMutation({
    mutationFn: (code: string) => callDashboard<ProviderStart>("POST", "oidc/start", { code }),
    onSuccess: ({ url }) => location.assign(url),
  });
  return (
    <Form submitLabel={`Continue with ${name}`} action={start} toInput={({ code = "" }) => code}>
      <CodeField />
    </Form>
  );
}

function SetUpAs({ name }: { readonly name: string }) {
  const queries = useQueryClient();
  const [, go] = useLocation();
  const setUp = useMutation({
    mutationFn: (code: string) => callDashboard<object>("POST", "setup", { code }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ME });
      go("/");
    },
  });
  return (
    <Form submitLabel={`Continue as ${name}`} action={setUp} toInput={({ code = "" }) => code}>
      <CodeField />
    </Form>
  );
}
