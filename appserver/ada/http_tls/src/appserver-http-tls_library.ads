--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  The functions of OpenSSL 3 that Appserver.HTTP.TLS calls. The names and the parameters are those
--  of OpenSSL's manual pages. appserver_http_tls.c defines the values of macros.

pragma Ada_2022;

with Interfaces.C.Strings;
with System;

private package Appserver.HTTP.TLS_Library is

   pragma Linker_Options ("-lssl");
   pragma Linker_Options ("-lcrypto");

   use Interfaces;
   use Interfaces.C;

   subtype Address is System.Address;

   ------------
   -- Values --
   ------------

   BIO_CTRL_FLUSH : constant int
     with Import, Convention => C, External_Name => "appserver_http_tls_BIO_CTRL_FLUSH";
   BIO_FLAGS_READ : constant int
     with Import, Convention => C, External_Name => "appserver_http_tls_BIO_FLAGS_READ";
   BIO_FLAGS_RWS : constant int
     with Import, Convention => C, External_Name => "appserver_http_tls_BIO_FLAGS_RWS";
   BIO_FLAGS_SHOULD_RETRY : constant int
     with Import, Convention => C, External_Name => "appserver_http_tls_BIO_FLAGS_SHOULD_RETRY";
   BIO_FLAGS_WRITE : constant int
     with Import, Convention => C, External_Name => "appserver_http_tls_BIO_FLAGS_WRITE";
   BIO_TYPE_SOURCE_SINK : constant int
     with Import, Convention => C, External_Name => "appserver_http_tls_BIO_TYPE_SOURCE_SINK";
   GEN_DNS : constant int
     with Import, Convention => C, External_Name => "appserver_http_tls_GEN_DNS";
   NID_subject_alt_name : constant int
     with Import, Convention => C, External_Name => "appserver_http_tls_NID_subject_alt_name";
   OPENSSL_INIT_NO_ATEXIT : constant Unsigned_64
     with Import, Convention => C, External_Name => "appserver_http_tls_OPENSSL_INIT_NO_ATEXIT";
   OSSL_PARAM_OCTET_STRING : constant unsigned
     with Import, Convention => C, External_Name => "appserver_http_tls_OSSL_PARAM_OCTET_STRING";
   OSSL_PARAM_UTF8_STRING : constant unsigned
     with Import, Convention => C, External_Name => "appserver_http_tls_OSSL_PARAM_UTF8_STRING";
   SSL3_AL_WARNING : constant int
     with Import, Convention => C, External_Name => "appserver_http_tls_SSL3_AL_WARNING";
   SSL3_RT_ALERT : constant int
     with Import, Convention => C, External_Name => "appserver_http_tls_SSL3_RT_ALERT";
   SSL3_RT_HANDSHAKE : constant int
     with Import, Convention => C, External_Name => "appserver_http_tls_SSL3_RT_HANDSHAKE";
   SSL_AD_CLOSE_NOTIFY : constant int
     with Import, Convention => C, External_Name => "appserver_http_tls_SSL_AD_CLOSE_NOTIFY";
   SSL_CTRL_MODE : constant int
     with Import, Convention => C, External_Name => "appserver_http_tls_SSL_CTRL_MODE";
   SSL_CTRL_SET_MAX_PROTO_VERSION : constant int
     with Import, Convention => C,
          External_Name => "appserver_http_tls_SSL_CTRL_SET_MAX_PROTO_VERSION";
   SSL_CTRL_SET_MIN_PROTO_VERSION : constant int
     with Import, Convention => C,
          External_Name => "appserver_http_tls_SSL_CTRL_SET_MIN_PROTO_VERSION";
   SSL_CTRL_SET_MSG_CALLBACK_ARG : constant int
     with Import, Convention => C,
          External_Name => "appserver_http_tls_SSL_CTRL_SET_MSG_CALLBACK_ARG";
   SSL_CTRL_SET_READ_AHEAD : constant int
     with Import, Convention => C, External_Name => "appserver_http_tls_SSL_CTRL_SET_READ_AHEAD";
   SSL_CTRL_SET_SESS_CACHE_MODE : constant int
     with Import, Convention => C,
          External_Name => "appserver_http_tls_SSL_CTRL_SET_SESS_CACHE_MODE";
   SSL_CTRL_SET_TLSEXT_SERVERNAME_ARG : constant int
     with Import, Convention => C,
          External_Name => "appserver_http_tls_SSL_CTRL_SET_TLSEXT_SERVERNAME_ARG";
   SSL_CTRL_SET_TLSEXT_SERVERNAME_CB : constant int
     with Import, Convention => C,
          External_Name => "appserver_http_tls_SSL_CTRL_SET_TLSEXT_SERVERNAME_CB";
   SSL_ERROR_NONE : constant int
     with Import, Convention => C, External_Name => "appserver_http_tls_SSL_ERROR_NONE";
   SSL_ERROR_WANT_READ : constant int
     with Import, Convention => C, External_Name => "appserver_http_tls_SSL_ERROR_WANT_READ";
   SSL_ERROR_WANT_WRITE : constant int
     with Import, Convention => C, External_Name => "appserver_http_tls_SSL_ERROR_WANT_WRITE";
   SSL_ERROR_ZERO_RETURN : constant int
     with Import, Convention => C, External_Name => "appserver_http_tls_SSL_ERROR_ZERO_RETURN";
   SSL_FILETYPE_PEM : constant int
     with Import, Convention => C, External_Name => "appserver_http_tls_SSL_FILETYPE_PEM";
   SSL_SESS_CACHE_OFF : constant int
     with Import, Convention => C, External_Name => "appserver_http_tls_SSL_SESS_CACHE_OFF";
   SSL_TLSEXT_ERR_ALERT_FATAL : constant int
     with Import, Convention => C, External_Name => "appserver_http_tls_SSL_TLSEXT_ERR_ALERT_FATAL";
   SSL_TLSEXT_ERR_NOACK : constant int
     with Import, Convention => C, External_Name => "appserver_http_tls_SSL_TLSEXT_ERR_NOACK";
   SSL_TLSEXT_ERR_OK : constant int
     with Import, Convention => C, External_Name => "appserver_http_tls_SSL_TLSEXT_ERR_OK";
   SSL_VERIFY_FAIL_IF_NO_PEER_CERT : constant int
     with Import, Convention => C,
          External_Name => "appserver_http_tls_SSL_VERIFY_FAIL_IF_NO_PEER_CERT";
   SSL_VERIFY_PEER : constant int
     with Import, Convention => C, External_Name => "appserver_http_tls_SSL_VERIFY_PEER";
   TLS1_2_VERSION : constant int
     with Import, Convention => C, External_Name => "appserver_http_tls_TLS1_2_VERSION";
   TLS1_3_VERSION : constant int
     with Import, Convention => C, External_Name => "appserver_http_tls_TLS1_3_VERSION";
   XN_FLAG_RFC2253 : constant unsigned_long
     with Import, Convention => C, External_Name => "appserver_http_tls_XN_FLAG_RFC2253";

   Modes : constant long
     with Import, Convention => C, External_Name => "appserver_http_tls_modes";
   Context_Options : constant Unsigned_64
     with Import, Convention => C, External_Name => "appserver_http_tls_options";
   HTTP_Request : constant unsigned_long
     with Import, Convention => C, External_Name => "appserver_http_tls_http_request";
   Proxy_Request : constant unsigned_long
     with Import, Convention => C, External_Name => "appserver_http_tls_proxy_request";
   --  The OpenSSL error codes for a client that sends an HTTP request without encryption

   ---------------
   -- libcrypto --
   ---------------

   function OPENSSL_init_ssl (Options : Unsigned_64; Settings : Address) return int
     with Import, Convention => C, External_Name => "OPENSSL_init_ssl";

   procedure ERR_clear_error
     with Import, Convention => C, External_Name => "ERR_clear_error";

   function ERR_peek_error return unsigned_long
     with Import, Convention => C, External_Name => "ERR_peek_error";

   function ERR_reason_error_string (Error : unsigned_long) return Strings.chars_ptr
     with Import, Convention => C, External_Name => "ERR_reason_error_string";

   function RAND_bytes (Into : Address; Count : int) return int
     with Import, Convention => C, External_Name => "RAND_bytes";

   procedure OPENSSL_cleanse (Place : Address; Count : size_t)
     with Import, Convention => C, External_Name => "OPENSSL_cleanse";

   function EVP_sha256 return Address
     with Import, Convention => C, External_Name => "EVP_sha256";

   function EVP_Digest
     (Data : Address; Count : size_t; Digest, Size, Kind, Engine : Address) return int
     with Import, Convention => C, External_Name => "EVP_Digest";

   function EVP_aes_256_cbc return Address
     with Import, Convention => C, External_Name => "EVP_aes_256_cbc";

   function EVP_EncryptInit_ex2 (Context, Cipher, Key, IV, Parameters : Address) return int
     with Import, Convention => C, External_Name => "EVP_EncryptInit_ex2";

   function EVP_DecryptInit_ex2 (Context, Cipher, Key, IV, Parameters : Address) return int
     with Import, Convention => C, External_Name => "EVP_DecryptInit_ex2";

   function EVP_MAC_CTX_set_params (Context, Parameters : Address) return int
     with Import, Convention => C, External_Name => "EVP_MAC_CTX_set_params";

   --  OSSL_PARAM

   type OSSL_Parameter is record
      Key         : Address := System.Null_Address;
      Kind        : unsigned := 0;
      Data        : Address := System.Null_Address;
      Size        : size_t := 0;
      Return_Size : size_t := size_t'Last;
   end record with Convention => C;

   --  BIO

   function BIO_get_new_index return int
     with Import, Convention => C, External_Name => "BIO_get_new_index";

   function BIO_meth_new (Kind : int; Name : char_array) return Address
     with Import, Convention => C, External_Name => "BIO_meth_new";

   function BIO_meth_set_read (Method, Callback : Address) return int
     with Import, Convention => C, External_Name => "BIO_meth_set_read";

   function BIO_meth_set_write (Method, Callback : Address) return int
     with Import, Convention => C, External_Name => "BIO_meth_set_write";

   function BIO_meth_set_ctrl (Method, Callback : Address) return int
     with Import, Convention => C, External_Name => "BIO_meth_set_ctrl";

   function BIO_new (Method : Address) return Address
     with Import, Convention => C, External_Name => "BIO_new";

   function BIO_s_mem return Address
     with Import, Convention => C, External_Name => "BIO_s_mem";

   function BIO_read (BIO, Into : Address; Count : int) return int
     with Import, Convention => C, External_Name => "BIO_read";

   function BIO_free (BIO : Address) return int
     with Import, Convention => C, External_Name => "BIO_free";

   procedure BIO_set_init (BIO : Address; Value : int)
     with Import, Convention => C, External_Name => "BIO_set_init";

   procedure BIO_set_data (BIO, Data : Address)
     with Import, Convention => C, External_Name => "BIO_set_data";

   function BIO_get_data (BIO : Address) return Address
     with Import, Convention => C, External_Name => "BIO_get_data";

   procedure BIO_set_flags (BIO : Address; Flags : int)
     with Import, Convention => C, External_Name => "BIO_set_flags";

   procedure BIO_clear_flags (BIO : Address; Flags : int)
     with Import, Convention => C, External_Name => "BIO_clear_flags";

   --  X.509

   function X509_get0_notBefore (Certificate : Address) return Address
     with Import, Convention => C, External_Name => "X509_get0_notBefore";

   function X509_get0_notAfter (Certificate : Address) return Address
     with Import, Convention => C, External_Name => "X509_get0_notAfter";

   function X509_cmp_current_time (Time : Address) return int
     with Import, Convention => C, External_Name => "X509_cmp_current_time";

   function X509_get_subject_name (Certificate : Address) return Address
     with Import, Convention => C, External_Name => "X509_get_subject_name";

   function X509_NAME_print_ex
     (BIO, Name : Address; Indentation : int; Flags : unsigned_long) return int
     with Import, Convention => C, External_Name => "X509_NAME_print_ex";

   function X509_get_ext_d2i (Certificate : Address; Kind : int; Critical, Index : Address)
     return Address
     with Import, Convention => C, External_Name => "X509_get_ext_d2i";

   function OPENSSL_sk_num (Stack : Address) return int
     with Import, Convention => C, External_Name => "OPENSSL_sk_num";

   function OPENSSL_sk_value (Stack : Address; Index : int) return Address
     with Import, Convention => C, External_Name => "OPENSSL_sk_value";

   function GENERAL_NAME_get0_value (Name : Address; Kind : access int) return Address
     with Import, Convention => C, External_Name => "GENERAL_NAME_get0_value";

   procedure GENERAL_NAMES_free (Names : Address)
     with Import, Convention => C, External_Name => "GENERAL_NAMES_free";

   function ASN1_STRING_get0_data (Text : Address) return Address
     with Import, Convention => C, External_Name => "ASN1_STRING_get0_data";

   function ASN1_STRING_length (Text : Address) return int
     with Import, Convention => C, External_Name => "ASN1_STRING_length";

   ------------
   -- libssl --
   ------------

   --  Contexts

   function TLS_server_method return Address
     with Import, Convention => C, External_Name => "TLS_server_method";

   function SSL_CTX_new (Method : Address) return Address
     with Import, Convention => C, External_Name => "SSL_CTX_new";

   procedure SSL_CTX_free (Context : Address)
     with Import, Convention => C, External_Name => "SSL_CTX_free";

   function SSL_CTX_ctrl (Context : Address; Command : int; Number : long; Pointer : Address)
     return long
     with Import, Convention => C, External_Name => "SSL_CTX_ctrl";

   function SSL_CTX_callback_ctrl (Context : Address; Command : int; Callback : Address)
     return long
     with Import, Convention => C, External_Name => "SSL_CTX_callback_ctrl";

   function SSL_CTX_set_options (Context : Address; Options : Unsigned_64) return Unsigned_64
     with Import, Convention => C, External_Name => "SSL_CTX_set_options";

   procedure SSL_CTX_set_security_level (Context : Address; Level : int)
     with Import, Convention => C, External_Name => "SSL_CTX_set_security_level";

   function SSL_CTX_set_cipher_list (Context : Address; List : char_array) return int
     with Import, Convention => C, External_Name => "SSL_CTX_set_cipher_list";

   function SSL_CTX_set_timeout (Context : Address; Seconds : long) return long
     with Import, Convention => C, External_Name => "SSL_CTX_set_timeout";

   function SSL_CTX_set_session_id_context
     (Context, Identity : Address; Length : unsigned) return int
     with Import, Convention => C, External_Name => "SSL_CTX_set_session_id_context";

   procedure SSL_CTX_set_default_passwd_cb (Context, Callback : Address)
     with Import, Convention => C, External_Name => "SSL_CTX_set_default_passwd_cb";

   function SSL_CTX_use_certificate_chain_file (Context : Address; File : char_array) return int
     with Import, Convention => C, External_Name => "SSL_CTX_use_certificate_chain_file";

   function SSL_CTX_use_PrivateKey_file
     (Context : Address; File : char_array; Kind : int) return int
     with Import, Convention => C, External_Name => "SSL_CTX_use_PrivateKey_file";

   function SSL_CTX_check_private_key (Context : Address) return int
     with Import, Convention => C, External_Name => "SSL_CTX_check_private_key";

   function SSL_CTX_get0_certificate (Context : Address) return Address
     with Import, Convention => C, External_Name => "SSL_CTX_get0_certificate";

   function SSL_CTX_load_verify_file (Context : Address; File : char_array) return int
     with Import, Convention => C, External_Name => "SSL_CTX_load_verify_file";

   function SSL_load_client_CA_file (File : char_array) return Address
     with Import, Convention => C, External_Name => "SSL_load_client_CA_file";

   procedure SSL_CTX_set_client_CA_list (Context, Names : Address)
     with Import, Convention => C, External_Name => "SSL_CTX_set_client_CA_list";

   procedure SSL_CTX_set_verify (Context : Address; Mode : int; Callback : Address)
     with Import, Convention => C, External_Name => "SSL_CTX_set_verify";

   procedure SSL_CTX_set_alpn_select_cb (Context, Callback, Argument : Address)
     with Import, Convention => C, External_Name => "SSL_CTX_set_alpn_select_cb";

   function SSL_CTX_set_tlsext_ticket_key_evp_cb (Context, Callback : Address) return int
     with Import, Convention => C, External_Name => "SSL_CTX_set_tlsext_ticket_key_evp_cb";

   procedure SSL_CTX_set_client_hello_cb (Context, Callback, Argument : Address)
     with Import, Convention => C, External_Name => "SSL_CTX_set_client_hello_cb";

   function SSL_client_hello_get0_ext
     (SSL : Address; Kind : unsigned; Data : access Address; Size : access size_t) return int
     with Import, Convention => C, External_Name => "SSL_client_hello_get0_ext";

   procedure SSL_CTX_set_msg_callback (Context, Callback : Address)
     with Import, Convention => C, External_Name => "SSL_CTX_set_msg_callback";

   --  Connections

   function SSL_new (Context : Address) return Address
     with Import, Convention => C, External_Name => "SSL_new";

   procedure SSL_free (SSL : Address)
     with Import, Convention => C, External_Name => "SSL_free";

   procedure SSL_set_bio (SSL, For_Reading, For_Writing : Address)
     with Import, Convention => C, External_Name => "SSL_set_bio";

   procedure SSL_set_accept_state (SSL : Address)
     with Import, Convention => C, External_Name => "SSL_set_accept_state";

   function SSL_ctrl (SSL : Address; Command : int; Number : long; Pointer : Address) return long
     with Import, Convention => C, External_Name => "SSL_ctrl";

   function SSL_set_ex_data (SSL : Address; Index : int; Data : Address) return int
     with Import, Convention => C, External_Name => "SSL_set_ex_data";

   function SSL_get_ex_data (SSL : Address; Index : int) return Address
     with Import, Convention => C, External_Name => "SSL_get_ex_data";

   function SSL_do_handshake (SSL : Address) return int
     with Import, Convention => C, External_Name => "SSL_do_handshake";

   function SSL_read (SSL, Into : Address; Count : int) return int
     with Import, Convention => C, External_Name => "SSL_read";

   function SSL_write (SSL, From : Address; Count : int) return int
     with Import, Convention => C, External_Name => "SSL_write";

   function SSL_shutdown (SSL : Address) return int
     with Import, Convention => C, External_Name => "SSL_shutdown";

   function SSL_has_pending (SSL : Address) return int
     with Import, Convention => C, External_Name => "SSL_has_pending";

   function SSL_get_error (SSL : Address; Result : int) return int
     with Import, Convention => C, External_Name => "SSL_get_error";

   function SSL_session_reused (SSL : Address) return int
     with Import, Convention => C, External_Name => "SSL_session_reused";

   function SSL_get_servername (SSL : Address; Kind : int) return Strings.chars_ptr
     with Import, Convention => C, External_Name => "SSL_get_servername";

   function SSL_set_SSL_CTX (SSL, Context : Address) return Address
     with Import, Convention => C, External_Name => "SSL_set_SSL_CTX";

   function SSL_get0_peer_certificate (SSL : Address) return Address
     with Import, Convention => C, External_Name => "SSL_get0_peer_certificate";

   function SSL_get_verify_result (SSL : Address) return long
     with Import, Convention => C, External_Name => "SSL_get_verify_result";

   function SSL_get_version (SSL : Address) return Strings.chars_ptr
     with Import, Convention => C, External_Name => "SSL_get_version";

end Appserver.HTTP.TLS_Library;
