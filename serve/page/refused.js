// What the server refuses, with its reason.
export class Refused extends Error {
  constructor(status, body) {
    super(body.problem ?? `the server answered ${status}`);
    this.status = status;
    this.body = body;
  }
}

export const MOVED = "another program listens at this address by now, so that nothing is sent there. Where ridge serve was started anew, its page is at another address: open the one that it has printed. Copy what was not saved first: that page takes it over only where its address begins with the same host and port";
