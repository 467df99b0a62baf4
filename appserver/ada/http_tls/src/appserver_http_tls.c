/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The benchlab authors
 *
 * Values of macros of OpenSSL on the target machine, for Appserver.HTTP.TLS_Library. */

#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/params.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stddef.h>
#include <stdint.h>

#if OPENSSL_VERSION_MAJOR < 3
#error "Appserver.HTTP.TLS needs OpenSSL 3"
#endif

#define VALUE(type, name) const type appserver_http_tls_##name = name

VALUE (int, BIO_CTRL_FLUSH);
VALUE (int, BIO_FLAGS_READ);
VALUE (int, BIO_FLAGS_RWS);
VALUE (int, BIO_FLAGS_SHOULD_RETRY);
VALUE (int, BIO_FLAGS_WRITE);
VALUE (int, BIO_TYPE_SOURCE_SINK);
VALUE (int, GEN_DNS);
VALUE (int, NID_subject_alt_name);
VALUE (uint64_t, OPENSSL_INIT_NO_ATEXIT);
VALUE (unsigned, OSSL_PARAM_OCTET_STRING);
VALUE (unsigned, OSSL_PARAM_UTF8_STRING);
VALUE (int, SSL3_AL_WARNING);
VALUE (int, SSL3_RT_ALERT);
VALUE (int, SSL3_RT_HANDSHAKE);
VALUE (int, SSL_AD_CLOSE_NOTIFY);
VALUE (int, SSL_CTRL_MODE);
VALUE (int, SSL_CTRL_SET_MAX_PROTO_VERSION);
VALUE (int, SSL_CTRL_SET_MIN_PROTO_VERSION);
VALUE (int, SSL_CTRL_SET_MSG_CALLBACK_ARG);
VALUE (int, SSL_CTRL_SET_READ_AHEAD);
VALUE (int, SSL_CTRL_SET_SESS_CACHE_MODE);
VALUE (int, SSL_CTRL_SET_TLSEXT_SERVERNAME_ARG);
VALUE (int, SSL_CTRL_SET_TLSEXT_SERVERNAME_CB);
VALUE (int, SSL_ERROR_NONE);
VALUE (int, SSL_ERROR_WANT_READ);
VALUE (int, SSL_ERROR_WANT_WRITE);
VALUE (int, SSL_ERROR_ZERO_RETURN);
VALUE (int, SSL_FILETYPE_PEM);
VALUE (int, SSL_SESS_CACHE_OFF);
VALUE (int, SSL_TLSEXT_ERR_ALERT_FATAL);
VALUE (int, SSL_TLSEXT_ERR_NOACK);
VALUE (int, SSL_TLSEXT_ERR_OK);
VALUE (int, SSL_VERIFY_FAIL_IF_NO_PEER_CERT);
VALUE (int, SSL_VERIFY_PEER);
VALUE (int, TLS1_2_VERSION);
VALUE (int, TLS1_3_VERSION);
VALUE (unsigned long, XN_FLAG_RFC2253);

const long appserver_http_tls_modes =
    SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS;
const uint64_t appserver_http_tls_options =
    SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA;
const unsigned long appserver_http_tls_http_request = ERR_PACK (ERR_LIB_SSL, 0, SSL_R_HTTP_REQUEST);
const unsigned long appserver_http_tls_proxy_request = ERR_PACK (ERR_LIB_SSL, 0, SSL_R_HTTPS_PROXY_REQUEST);

#define SAME(what) _Static_assert (what, "Appserver.HTTP.TLS_Library has another layout")

SAME (sizeof (OSSL_PARAM) == 40 && offsetof (OSSL_PARAM, data) == 16 && offsetof (OSSL_PARAM, data_size) == 24);
