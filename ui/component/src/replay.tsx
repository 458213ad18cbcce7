/** The entry of the replay that Streamlit calls: a list of recordings, or one that plays. */

import type { FrontendRendererArgs } from "@streamlit/component-v2-lib";
import { render } from "preact";

import { type Listed, Recordings } from "./views/recordings";
import { Replay, type Recorded } from "./views/replay";

type Data = { list: Listed[]; left_out: number } | Recorded;
type Triggers = { open: string | null; close: boolean | null };

const roots = new WeakMap<object, HTMLElement>();

export default function mount(args: FrontendRendererArgs<Triggers, Data>): () => void {
  const { parentElement, data, setTriggerValue } = args;
  const root = roots.get(parentElement) ?? parentElement.appendChild(document.createElement("div"));
  roots.set(parentElement, root);
  render(
    "list" in data ? (
      <Recordings
        list={data.list}
        left_out={data.left_out}
        open={(name) => setTriggerValue("open", name)}
      />
    ) : (
      <Replay
        key={`${data.recording}#${data.began}`}
        recorded={data}
        close={() => setTriggerValue("close", true)}
      />
    ),
    root,
  );
  return () => {
    render(null, root);
    root.remove();
    roots.delete(parentElement);
  };
}
