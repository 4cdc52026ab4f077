//! Real servers: nginx, and moto and s3s-fs for S3.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use crate::support::mount::{eventually, has_programs, is_installed};
use crate::support::programs::run_in;
use crate::support::skip::skip_anywhere;

/// Returns a port on which no process listens.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// A program that listens on a port.
struct Server {
    child: Child,
    port: u16,
    dir: TempDir,
}

impl Server {
    fn start(port: u16, dir: TempDir, command: &mut Command) -> Self {
        let log = fs::File::create(dir.path().join("log")).unwrap();
        let command = command.stdin(Stdio::null()).stdout(Stdio::null());
        let server = Self {
            child: command.stderr(log).spawn().unwrap(),
            port,
            dir,
        };
        eventually("the server listens", || {
            TcpStream::connect(("127.0.0.1", port)).is_ok()
        });
        server
    }

    /// Returns the environment of a program that uses its buckets.
    fn address(&self) -> Vec<(&'static str, String)> {
        vec![
            (
                "AWS_ENDPOINT_URL_S3",
                format!("http://127.0.0.1:{}", self.port),
            ),
            ("AWS_ALLOW_HTTP", "true".to_owned()),
        ]
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Certificates of a server called `localhost`, and of an unknown authority
/// that has signed them.
pub struct Certificates(TempDir);

impl Certificates {
    /// Creates new ones. If OpenSSL's program is missing, returns `None` and
    /// reports that the test is skipped.
    pub fn new() -> Option<Self> {
        if !has_programs(&["openssl"]) {
            return None;
        }
        let made = Self(tempfile::tempdir().unwrap());
        let settings = "[req]\ndistinguished_name = name\nprompt = no\n\
            [name]\nCN = Tests of hpimount\n\
            [authority]\nbasicConstraints = critical, CA:TRUE\nkeyUsage = critical, keyCertSign\n\
            [server]\nbasicConstraints = critical, CA:FALSE\nsubjectAltName = DNS:localhost\n";
        fs::write(made.0.path().join("settings"), settings).unwrap();
        let new = "req -config settings -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes";
        for command in [
            format!("{new} -x509 -days 2 -extensions authority -keyout ca.key -out ca.pem"),
            format!("{new} -keyout server.key -out server.csr"),
            "x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 \
             -extfile settings -extensions server -out server.pem"
                .to_owned(),
        ] {
            assert!(run_in(
                made.0.path(),
                "openssl",
                &command.split(' ').collect::<Vec<_>>()
            ));
        }
        Some(made)
    }

    /// Returns the certificate of the authority.
    pub fn authority(&self) -> String {
        self.0.path().join("ca.pem").to_str().unwrap().to_owned()
    }
}

/// nginx with the files of a directory.
pub struct Nginx {
    server: Server,
    /// What its URLs begin with.
    origin: String,
}

impl Nginx {
    /// Serves `root`, with more lines for its server block. If nginx is
    /// missing, returns `None` and reports that the test is skipped.
    pub fn start(root: &Path, more: &str) -> Option<Self> {
        let port = free_port();
        Self::listen(root, port, &format!("{port}; {more}")).map(|server| Self {
            server,
            origin: format!("http://127.0.0.1:{port}"),
        })
    }

    /// Serves `root` by TLS with the host name `localhost`.
    pub fn start_tls(root: &Path, certificates: &Certificates, more: &str) -> Option<Self> {
        let (port, at) = (free_port(), certificates.0.path().display());
        let more = format!(
            "{port} ssl; ssl_certificate {at}/server.pem; ssl_certificate_key {at}/server.key; {more}"
        );
        Self::listen(root, port, &more).map(|server| Self {
            server,
            origin: format!("https://localhost:{port}"),
        })
    }

    /// Serves `root`; `listen` is the port and the rest of the server block.
    fn listen(root: &Path, port: u16, listen: &str) -> Option<Server> {
        if !has_programs(&["nginx"]) {
            return None;
        }
        let dir = tempfile::tempdir().unwrap();
        let at = dir.path().display();
        let config = format!(
            "daemon off; master_process off; pid {at}/pid; error_log {at}/errors;\n\
            events {{}}\nhttp {{\n  access_log {at}/access;\n  client_body_temp_path {at}/1;\n\
            proxy_temp_path {at}/2;\n  fastcgi_temp_path {at}/3;\n  uwsgi_temp_path {at}/4;\n\
            scgi_temp_path {at}/5;\n\
            server {{ root \"{}\"; listen 127.0.0.1:{listen} }}\n}}\n",
            root.display()
        );
        let path = dir.path().join("nginx.conf");
        fs::write(&path, config).unwrap();
        let mut command = Command::new("nginx");
        command.arg("-e").arg(dir.path().join("errors"));
        command.arg("-c").arg(path);
        Some(Server::start(port, dir, &mut command))
    }

    /// Returns the URL of a file of the directory.
    pub fn url(&self, name: &str) -> String {
        let escaped = name.replace('%', "%25").replace(' ', "%20");
        let escaped = escaped.replace('#', "%23").replace('?', "%3F");
        format!("{}/{escaped}", self.origin)
    }

    /// Returns the port that it listens on.
    pub fn port(&self) -> u16 {
        self.server.port
    }

    /// Returns the number of requests so far.
    pub fn requests(&self) -> usize {
        let log = fs::read_to_string(self.server.dir.path().join("access"));
        log.unwrap_or_default().lines().count()
    }
}

/// moto, which emulates S3.
pub struct Moto(Server);

impl Moto {
    /// Starts a server without buckets. If moto is missing, returns `None` and
    /// reports that the test is skipped.
    pub fn start() -> Option<Self> {
        if !has_programs(&["moto_server"]) {
            return None;
        }
        let (port, dir) = (free_port(), tempfile::tempdir().unwrap());
        let mut command = Command::new("moto_server");
        command.args(["-H", "127.0.0.1", "-p", &port.to_string()]);
        Some(Self(Server::start(port, dir, &mut command)))
    }

    /// Returns the environment of a program that uses it, without keys.
    pub fn address(&self) -> Vec<(&'static str, String)> {
        vec![
            (
                "AWS_ENDPOINT_URL_S3",
                format!("http://127.0.0.1:{}", self.0.port),
            ),
            ("AWS_ALLOW_HTTP", "true".to_owned()),
        ]
    }

    /// Returns the environment of a program that may read everything.
    pub fn variables(&self) -> Vec<(&'static str, String)> {
        let mut variables = self.address();
        variables.push(("AWS_ACCESS_KEY_ID", "K".to_owned()));
        variables.push(("AWS_SECRET_ACCESS_KEY", "S".to_owned()));
        variables
    }

    /// Creates a bucket.
    pub fn make_bucket(&self, bucket: &str) {
        self.request("PUT", bucket, &[]);
    }

    /// Puts an object into a bucket.
    pub fn put(&self, bucket: &str, key: &str, bytes: &[u8]) {
        self.request("PUT", &format!("{bucket}/{key}"), bytes);
    }

    fn request(&self, method: &str, path: &str, body: &[u8]) {
        use std::io::{Read, Write};

        let mut stream = TcpStream::connect(("127.0.0.1", self.0.port)).unwrap();
        let path = path.replace('%', "%25").replace(' ', "%20");
        let path = path.replace('#', "%23").replace('?', "%3F");
        let head = format!(
            "{method} /{path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\
            x-amz-acl: public-read\r\nAuthorization: AWS4-HMAC-SHA256 Credential=k/20200101/us-east-1/s3/aws4_request\r\n\
            Content-Length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(body).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{path}: {answer}");
    }
}

/// s3s-fs, an S3 server that ignores conditions such as If-Match.
pub struct S3sFs {
    server: Server,
    /// Has a directory for each bucket.
    root: TempDir,
}

impl S3sFs {
    /// Starts a server without buckets. If s3s-fs is missing, returns `None`
    /// and reports that the test is skipped, also in CI: it takes minutes to
    /// build (`cargo install s3s-fs --features binary`).
    pub fn start() -> Option<Self> {
        if !is_installed("s3s-fs") {
            skip_anywhere("needs s3s-fs");
            return None;
        }
        let (port, root) = (free_port(), tempfile::tempdir().unwrap());
        let mut command = Command::new("s3s-fs");
        command.args(["--host", "127.0.0.1", "--port", &port.to_string()]);
        command.arg(root.path());
        let server = Server::start(port, tempfile::tempdir().unwrap(), &mut command);
        Some(Self { server, root })
    }

    /// Returns the environment of a program that may read everything.
    pub fn variables(&self) -> Vec<(&'static str, String)> {
        let mut variables = self.server.address();
        variables.push(("AWS_SKIP_SIGNATURE", "true".to_owned()));
        variables
    }

    /// Puts an object into a bucket atomically.
    pub fn put(&self, bucket: &str, key: &str, bytes: &[u8]) {
        let bucket = self.root.path().join(bucket);
        fs::create_dir_all(&bucket).unwrap();
        let part = tempfile::NamedTempFile::new_in(&self.root).unwrap();
        fs::write(&part, bytes).unwrap();
        part.persist(bucket.join(key)).unwrap();
    }
}

/// Python's web server, which does not support ranges, with the files of a
/// directory.
pub struct PlainServer(Server);

impl PlainServer {
    /// Serves `root`. If Python is missing, returns `None` and reports that the
    /// test is skipped.
    pub fn start(root: &Path) -> Option<Self> {
        if !has_programs(&["python3"]) {
            return None;
        }
        let port = free_port();
        let mut command = Command::new("python3");
        command.args(["-m", "http.server", "--bind", "127.0.0.1"]);
        command.arg("--directory").arg(root).arg(port.to_string());
        let dir = tempfile::tempdir().unwrap();
        Some(Self(Server::start(port, dir, &mut command)))
    }

    /// Returns the URL of a file of the directory.
    pub fn url(&self, name: &str) -> String {
        format!("http://127.0.0.1:{}/{name}", self.0.port)
    }
}

/// Returns the files of a folder, sorted.
pub fn files_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}
