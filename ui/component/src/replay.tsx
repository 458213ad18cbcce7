/** The entry of the replay that Streamlit calls: the recordings, one that plays, or a live call. */

import type { FrontendRendererArgs } from "@streamlit/component-v2-lib";
import { render } from "preact";

import { Live } from "./views/live";
import { type Listed, Recordings } from "./views/recordings";
import { Replay, type Recorded } from "./views/replay";

type Data = { list: Listed[]; left_out: number } | Recorded | { hotel_name: string; live: string };
type Triggers = { open: string | null; watch: string | null; close: boolean | null };

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
        watch={(room) => setTriggerValue("watch", room)}
      />
    ) : "live" in data ? (
      <Live
        key={data.live}
        hotel={data.hotel_name}
        room={data.live}
        close={() => setTriggerValue("close", true)}
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
