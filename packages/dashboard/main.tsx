/** Entry point of the dashboard. */
import { notifyManager, QueryClientProvider } from "@tanstack/react-query";
import { createRoot } from "react-dom/client";
import { Router } from "wouter";
import { App } from "./app.tsx";
import { queryClient } from "./data/api.ts";
import { watchConnection } from "./data/connection.ts";
import { applyTheme } from "./data/theme.ts";
import { Toasts, WithConnection } from "./ui/feedback.tsx";

// A button is busy before the second click of a double click arrives.
notifyManager.setScheduler(queueMicrotask);
applyTheme();
watchConnection(() => void queryClient.invalidateQueries());

const root = document.getElementById("root");
if (root === null) throw new Error("The page has no element #root");
createRoot(root).render(
  <QueryClientProvider client={queryClient}>
    <Router base="/dashboard">
      <WithConnection>
        <App />
      </WithConnection>
    </Router>
    <Toasts />
  </QueryClientProvider>,
);
