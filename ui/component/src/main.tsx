/** The entry that Streamlit calls: once when the component is mounted, and again with new data. */

import type { FrontendRendererArgs } from "@streamlit/component-v2-lib";
import { setLogLevel } from "livekit-client";
import { render } from "preact";

import { App } from "./views/app";
import { Exchange, type Data } from "./exchange";
import { type Action, IDLE, type Screen, update } from "./screen";
import { Session } from "./session";

type Triggers = { call: { request: string } | null };

const mounted = new WeakMap<object, Mounted>();

export default function mount(args: FrontendRendererArgs<Triggers, Data>): () => void {
  const { parentElement, data, setTriggerValue } = args;
  const here = mounted.get(parentElement) ?? new Mounted(parentElement);
  mounted.set(parentElement, here);
  here.receive(data, (request) => setTriggerValue("call", { request }));
  return () => {
    here.close();
    mounted.delete(parentElement);
  };
}

class Mounted {
  private readonly root: HTMLElement;
  private readonly sound: HTMLElement;
  private readonly exchange = new Exchange();
  private readonly session: Session;
  private screen: Screen = IDLE;
  private hotel = "";
  private isShown = true;

  constructor(parent: HTMLElement | ShadowRoot) {
    setLogLevel("warn");
    this.root = parent.appendChild(document.createElement("div"));
    this.sound = parent.appendChild(document.createElement("div"));
    this.sound.hidden = true;
    this.session = new Session(
      (action) => this.dispatch(action),
      () => this.screen,
      this.sound,
    );
  }

  receive(data: Data, ask: (request: string) => void): void {
    this.hotel = data.hotel_name;
    this.isShown = data.is_shown;
    this.exchange.connect(ask);
    this.exchange.receive(data);
    this.render();
  }

  close(): void {
    this.session.close();
    render(null, this.root);
    this.root.remove();
    this.sound.remove();
  }

  private dispatch(action: Action): void {
    this.screen = update(this.screen, action);
    this.render();
  }

  private render(): void {
    render(
      <App
        hotel={this.hotel}
        isShown={this.isShown}
        screen={this.screen}
        session={this.session}
        start={(microphone) =>
          void this.session.start(microphone, () => this.exchange.requestPass())
        }
      />,
      this.root,
    );
  }
}
