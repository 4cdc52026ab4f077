//! HTTP: only this file and those below it name hyper. It passes requests to the reading
//! threads, and sends their answers. Its thread opens no file and parses nothing of a source.

mod body;

use std::cell::{Cell, RefCell};
use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::future::{Either, select};
use hyper::body::{Body, Incoming};
use hyper::header::{HeaderName, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use tokio::net::TcpListener;
use tokio::sync::{oneshot, watch};
use tokio::task::{LocalSet, spawn_local};
use tokio::time::{sleep, timeout};

use self::body::Sent;
use super::answer::{Answer, Content, Refusal};
use super::connection::{Connection, Patience, Phase, accepted};
use super::dav::{self, MAX_BODY};
use super::guard::{Brake, Guard};
use super::head::{HEADERS, Head};
use super::job::{Job, Work};
use super::pieces::{Permits, Queue, Urgency};
use super::records;
use super::route::Call;
use crate::memory::budget::Budget;
use crate::percent::encoded;
use crate::printable::printable;

/// Connections in all, and of a client that is not on this machine.
const MAX_CONNECTIONS: usize = 1024;
const MAX_OF_CLIENT: usize = 64;

/// Memory of a connection that waits, in bytes.
const CONNECTION: usize = 16 << 10;

/// Longest head of a request, and bytes that the library buffers of an answer.
const MAX_HEAD: usize = 16 << 10;
const MAX_BUFFER: usize = 64 << 10;

/// Number of clients that get large pieces.
const LARGE_PIECES: usize = 64;

/// Grace period for answers after the end of the server was asked for.
const GRACE: Duration = Duration::from_secs(2);

/// Refused clients that are logged in a second.
const LOGGED_PER_SECOND: u32 = 10;

/// Headers of all answers.
const OF_ALL: [(&str, &str); 3] = [
    ("x-content-type-options", "nosniff"),
    ("cross-origin-resource-policy", "same-origin"),
    ("referrer-policy", "no-referrer"),
];

/// Serves clients until the end is asked for. Everything here runs on one thread.
pub(super) fn run(
    runtime: &tokio::runtime::Runtime,
    listeners: Vec<std::net::TcpListener>,
    nfs: Option<std::net::TcpListener>,
    guard: Guard,
    patience: Patience,
    work: Work,
    stop: watch::Receiver<bool>,
) -> io::Result<()> {
    let Work { queue, budget } = work;
    let server = Rc::new(Server {
        guard,
        patience,
        queue,
        budget,
        permits: Rc::new(Permits::new(LARGE_PIECES)),
        clients: RefCell::default(),
        brake: RefCell::new(Brake::new(Instant::now())),
        logged: Cell::new((Instant::now(), 0)),
        stop,
    });
    let local = LocalSet::new();
    local.block_on(runtime, async move {
        let mut stop = server.stop.clone();
        for listener in listeners {
            listener.set_nonblocking(true)?;
            let listener = TcpListener::from_std(listener)?;
            spawn_local(accept(server.clone(), listener));
        }
        if let Some(listener) = nfs {
            listener.set_nonblocking(true)?;
            let listener = TcpListener::from_std(listener)?;
            let work = Work {
                queue: server.queue.clone(),
                budget: server.budget.clone(),
            };
            let stop = server.stop.clone();
            let server = server.clone();
            let admits = move |client| server.admits(client);
            spawn_local(records::accept(listener, work, patience, admits, stop));
        }
        // An error means that the owner of the server is gone.
        let _ = stop.wait_for(|is_ending| *is_ending).await;
        let ended = async {
            while !server.clients.borrow().is_empty() {
                sleep(Duration::from_millis(20)).await;
            }
        };
        // Answers that take longer are cut off.
        let _ = timeout(GRACE, ended).await;
        Ok(())
    })
}

/// The state of the thread.
struct Server {
    guard: Guard,
    patience: Patience,
    queue: Arc<Queue<Job>>,
    budget: Arc<Budget>,
    permits: Rc<Permits>,
    /// The clients of all connections.
    clients: RefCell<Vec<SocketAddr>>,
    brake: RefCell<Brake>,
    /// Lines that were logged since the time beside them.
    logged: Cell<(Instant, u32)>,
    stop: watch::Receiver<bool>,
}

/// Accepts the clients of a listener.
async fn accept(server: Rc<Server>, listener: TcpListener) {
    let mut stop = server.stop.clone();
    loop {
        let stopped = pin!(stop.wait_for(|is_ending| *is_ending));
        match select(pin!(accepted(&listener)), stopped).await {
            Either::Right(_) => return,
            Either::Left((Ok((stream, client)), _)) => {
                if !server.admits(client) {
                    continue;
                }
                let _ = stream.set_nodelay(true);
                let connection = Connection::new(stream, server.patience);
                spawn_local(connect(server.clone(), connection, client));
            }
            // There are no descriptors left, or the client has gone already.
            Either::Left((Err(error), _)) => {
                log::debug!("a client is not accepted: {error}");
                sleep(Duration::from_millis(50)).await;
            }
        }
    }
}

/// Serves a connection to its end.
async fn connect(server: Rc<Server>, connection: Connection, client: SocketAddr) {
    let connection = Rc::new(connection);
    let charge = server.budget.charge("a connection", CONNECTION);
    let is_full = charge.is_err() || server.is_full(client);
    server.clients.borrow_mut().push(client);
    let service = service_fn(|request| {
        let (server, connection) = (server.clone(), connection.clone());
        async move {
            connection.enter(Phase::Answering);
            let response = match is_full {
                true => server.refused(&Head::default(), &Refusal::Busy, connection),
                false => server.respond(request, connection, client).await,
            };
            Ok::<_, Infallible>(response)
        }
    });
    let mut builder = http1::Builder::new();
    builder.max_buf_size(MAX_BUFFER);
    builder.max_header_size(MAX_HEAD);
    builder.keep_alive(!is_full);
    let wire = Wire(connection.clone());
    let mut served = pin!(builder.serve_connection(wire, service));
    let mut overdue = pin!(connection.overdue());
    let mut stop = server.stop.clone();
    let mut stopped = pin!(stop.wait_for(|is_ending| *is_ending));
    let mut is_stopping = false;
    poll_fn(|context| {
        if !is_stopping && stopped.as_mut().poll(context).is_ready() {
            is_stopping = true;
            served.as_mut().graceful_shutdown();
        }
        if overdue.as_mut().poll(context).is_ready() {
            return Poll::Ready(());
        }
        // Clients that go away are no concern of others.
        served.as_mut().poll(context).map(drop)
    })
    .await;
    let mut clients = server.clients.borrow_mut();
    let position = clients.iter().position(|known| *known == client);
    position.map(|position| clients.swap_remove(position));
}

impl Server {
    /// Returns whether a client is answered at all.
    fn admits(&self, client: SocketAddr) -> bool {
        let is_admitted = self.guard.accepts(client);
        if !is_admitted {
            self.log(client, "is in no network of --allow");
        }
        is_admitted
    }

    /// Returns whether a client gets no connection.
    fn is_full(&self, client: SocketAddr) -> bool {
        let clients = self.clients.borrow();
        let is_local = client.ip().to_canonical().is_loopback();
        let own = clients.iter().filter(|known| known.ip() == client.ip());
        clients.len() >= MAX_CONNECTIONS || !is_local && own.count() >= MAX_OF_CLIENT
    }

    /// Logs why a client is not answered.
    fn log(&self, client: SocketAddr, why: &str) {
        let (since, count) = self.logged.get();
        let is_new = since.elapsed() >= Duration::from_secs(1);
        let (since, count) = if is_new {
            (Instant::now(), 0)
        } else {
            (since, count)
        };
        self.logged.set((since, count + 1));
        if count < LOGGED_PER_SECOND {
            log::warn!("refused {client}: {}", printable(why));
        }
    }

    /// Answers a request.
    async fn respond(
        &self,
        request: Request<Incoming>,
        connection: Rc<Connection>,
        client: SocketAddr,
    ) -> Response<Sent> {
        let asked = head_of(&request);
        let (head, token) = asked.clone().without_token();
        if let Err(refusal) = self.guard.check(&head, token.as_deref()) {
            if refusal == Refusal::NoToken
                && let Some(answer) = dav::above(&asked)
            {
                return self.sent(&head, answer, connection);
            }
            self.log(client, refusal.message());
            if refusal == Refusal::NoToken {
                let delay = self.brake.borrow_mut().delay(Instant::now());
                sleep(delay).await;
            }
            return self.refused(&head, &refusal, connection);
        }
        if let Some(answer) = self.with_cookie(&head) {
            return self.sent(&head, answer, connection);
        }
        let call = match self.call(&head, request, &connection).await {
            Ok(call) => call,
            Err(refusal) => return self.refused(&head, &refusal, connection),
        };
        let (reply, answered) = oneshot::channel();
        let urgency = match call {
            Call::Thumbnail { .. } => Urgency::Picture,
            _ => Urgency::First,
        };
        let job = Job::Answer(Box::new((head.clone(), call)), reply);
        if !self.queue.push(urgency, job) {
            return self.refused(&head, &Refusal::Busy, connection);
        }
        match answered.await {
            Ok(answer) => self.sent(&head, answer, connection),
            // The thread has panicked, or the server ends.
            Err(_) => self.refused(&head, &Refusal::Internal, connection),
        }
    }

    /// Returns what a request asks for, with its body.
    async fn call(
        &self,
        head: &Head,
        request: Request<Incoming>,
        connection: &Connection,
    ) -> Result<Call, Refusal> {
        let mut call = Call::of(head)?;
        if let Call::Properties { body, .. } = &mut call {
            connection.enter(Phase::Asking);
            *body = received(request.into_body()).await?;
            connection.enter(Phase::Answering);
        }
        Ok(call)
    }

    /// Returns the answer to the URL that the server has printed: the token becomes a cookie,
    /// so that it is neither in the history of the browser nor in links.
    fn with_cookie(&self, head: &Head) -> Option<Answer> {
        head.parameter("token").filter(|_| head.path == "/")?;
        let path = head.parameter("path");
        let to = path.map_or("/".to_owned(), |path| format!("/?path={}", encoded(&path)));
        let answer = Answer::redirect(to);
        Some(match self.guard.token() {
            Some(token) => {
                let (cookie, token) = (self.guard.cookie(), token.text());
                let cookie = format!("{cookie}={token}; HttpOnly; SameSite=Strict; Path=/");
                answer.with("set-cookie", cookie)
            }
            None => answer,
        })
    }

    fn refused(
        &self,
        head: &Head,
        refusal: &Refusal,
        connection: Rc<Connection>,
    ) -> Response<Sent> {
        self.sent(head, refusal.answer(head), connection)
    }

    /// Returns the response that sends an answer.
    fn sent(&self, head: &Head, answer: Answer, connection: Rc<Connection>) -> Response<Sent> {
        let length = match head.method.as_str() {
            "HEAD" => Some(0),
            _ => answer.length,
        };
        let content = match head.method.as_str() {
            "HEAD" => Content::Bytes(Bytes::new()),
            _ => answer.body,
        };
        let mut response = Response::new(Sent::new(
            connection,
            self.queue.clone(),
            self.permits.clone(),
            self.budget.empty_charge("pieces of answers"),
            content,
            length,
        ));
        *response.status_mut() = StatusCode::from_u16(answer.status).unwrap_or_default();
        let usual = [("cache-control", "private, no-cache")];
        let usual = usual.iter().filter(|(name, _)| {
            let mut own = answer.headers.iter();
            !own.any(|(known, _)| known == name)
        });
        let own = answer.headers.iter();
        let own = own.map(|(name, value)| (*name, value.as_str()));
        let headers = response.headers_mut();
        for (name, value) in OF_ALL.iter().chain(usual).copied().chain(own) {
            // Values come from here, or are escaped.
            if let Ok(value) = HeaderValue::from_bytes(value.as_bytes()) {
                headers.append(HeaderName::from_static(name), value);
            }
        }
        if let Some(length) = answer.length {
            headers.insert(hyper::header::CONTENT_LENGTH, length.into());
        }
        response
    }
}

/// Receives the body of a request.
async fn received(body: Incoming) -> Result<Vec<u8>, Refusal> {
    let mut body = pin!(body);
    let mut bytes = Vec::new();
    while let Some(frame) = poll_fn(|context| body.as_mut().poll_frame(context)).await {
        let frame = frame.map_err(|_| Refusal::BadRequest("the body is cut off"))?;
        let data = frame.data_ref().map_or(&[][..], |data| data);
        if bytes.len() + data.len() > MAX_BODY {
            return Err(Refusal::BadRequest("the body is too long"));
        }
        bytes.extend_from_slice(data);
    }
    Ok(bytes)
}

/// Returns the head of a request.
fn head_of(request: &Request<Incoming>) -> Head {
    let headers = HEADERS.iter().filter_map(|&name| {
        let values = request.headers().get_all(name).iter();
        let values: Vec<_> = values
            .map(|value| String::from_utf8_lossy(value.as_bytes()))
            .collect();
        (!values.is_empty()).then(|| (name, values.join(", ")))
    });
    Head {
        method: request.method().as_str().to_owned(),
        prefix: String::new(),
        path: request.uri().path().to_owned(),
        query: request.uri().query().unwrap_or_default().to_owned(),
        headers: headers.collect(),
    }
}

/// A connection as hyper reads and writes it.
struct Wire(Rc<Connection>);

/// Number of bytes that are received at a time.
const RECEIVED: usize = 8 << 10;

impl hyper::rt::Read for Wire {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        mut buffer: hyper::rt::ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let mut bytes = [0; RECEIVED];
        let most = buffer.remaining().min(RECEIVED);
        let received = ready!(self.0.poll_receive(context, &mut bytes[..most]))?;
        buffer.put_slice(&bytes[..received]);
        Poll::Ready(Ok(()))
    }
}

impl hyper::rt::Write for Wire {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.0.poll_send(context, &[IoSlice::new(bytes)])
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.0.poll_send(context, bytes)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(self.0.end())
    }
}
