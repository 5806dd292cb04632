; x86-64-v4
define internal void @"point"(ptr %".1", ptr %".2", ptr noalias %".3", i64 %".4") alwaysinline
{
entry:
  br label %"start"
start:
  %".6" = getelementptr i64, ptr %".1", i64 -1
  %".7" = getelementptr i64, ptr %".2", i64 0
  %".8" = load i64, ptr %".7"
  %".9" = getelementptr i64, ptr %".2", i64 1
  %".10" = load i64, ptr %".9"
  %".11" = getelementptr i64, ptr %".2", i64 2
  %".12" = load i64, ptr %".11"
  %".13" = urem i64 %".4", %".10"
  %".14" = udiv i64 %".4", %".10"
  %".15" = getelementptr ptr, ptr %".1", i64 0
  %".16" = load ptr, ptr %".15"
  %".17" = getelementptr ptr, ptr %".1", i64 1
  %".18" = load ptr, ptr %".17"
  %".19" = getelementptr ptr, ptr %".1", i64 2
  %".20" = load ptr, ptr %".19"
  br label %"loop"
loop:
  %"i" = phi  i64 [0, %"start"], [%".163", %"done.2"]
  %".22" = icmp slt i64 %"i", %".12"
  br i1 %".22", label %"body", label %"done"
body:
  %".24" = trunc i64 %".14" to i32
  %".25" = trunc i64 %".13" to i32
  %".26" = trunc i64 %"i" to i32
  %".27" = trunc i64 %".8" to i32
  %".28" = trunc i64 %".10" to i32
  %".29" = trunc i64 %".12" to i32
  %".30" = trunc i64 %".14" to i32
  %".31" = trunc i64 %".13" to i32
  %".32" = trunc i64 %"i" to i32
  %".33" = sext i32 %".30" to i64
  %".34" = mul i64 %".33", 4
  %".35" = sext i32 %".32" to i64
  %".36" = mul i64 %".35", 8
  %".37" = mul i64 %".34", 16
  %".38" = add i64 %".37", %".36"
  %".39" = getelementptr float, ptr %".16", i64 %".38"
  %".40" = trunc i64 %".14" to i32
  %".41" = trunc i64 %".13" to i32
  %".42" = trunc i64 %"i" to i32
  %".43" = sext i32 %".42" to i64
  %".44" = mul i64 %".43", 8
  %".45" = sext i32 %".41" to i64
  %".46" = mul i64 %".45", 6
  %".47" = mul i64 %".44", 12
  %".48" = add i64 %".47", %".46"
  %".49" = getelementptr float, ptr %".18", i64 %".48"
  %".50" = trunc i64 %".14" to i32
  %".51" = trunc i64 %".13" to i32
  %".52" = trunc i64 %"i" to i32
  %".53" = sext i32 %".50" to i64
  %".54" = mul i64 %".53", 4
  %".55" = sext i32 %".51" to i64
  %".56" = mul i64 %".55", 6
  %".57" = mul i64 %".54", 12
  %".58" = add i64 %".57", %".56"
  %".59" = getelementptr float, ptr %".20", i64 %".58"
  %".60" = icmp eq i32 %".26", 0
  %".61" = zext i1 %".60" to i32
  %".62" = sext i32 %".61" to i64
  %".63" = icmp slt i64 %".62", 0
  %".64" = select  i1 %".63", i64 0, i64 %".62"
  switch i64 %".64", label %"case.1" [i64 0, label %"case.0"]
done:
  ret void
switch.done:
  %".78" = getelementptr i8, ptr %".3", i64 0
  br label %"loop.2"
case.0:
  br label %"switch.done"
case.1:
  br label %"loop.1"
loop.1:
  %"i.1" = phi  i64 [0, %"case.1"], [%".75", %"body.1"]
  %".68" = icmp slt i64 %"i.1", 4
  br i1 %".68", label %"body.1", label %"done.1"
body.1:
  %".70" = insertelement <6 x float> <float undef, float undef, float undef, float undef, float undef, float undef>, float              0x0, i32 0
  %".71" = shufflevector <6 x float> %".70", <6 x float> <float undef, float undef, float undef, float undef, float undef, float undef>, <6 x i32> splat (i32 0)
  %".72" = mul i64 %"i.1", 12
  %".73" = getelementptr inbounds float, ptr %".59", i64 %".72"
  store <6 x float> %".71", ptr %".73", align 4
  %".75" = add i64 %"i.1", 1
  br label %"loop.1"
done.1:
  br label %"switch.done"
loop.2:
  %"i.2" = phi  i64 [0, %"switch.done"], [%".161", %"k.done"]
  %".80" = icmp slt i64 %"i.2", 6
  br i1 %".80", label %"body.2", label %"done.2"
body.2:
  %".82" = getelementptr inbounds float, ptr %".59", i64 %"i.2"
  call void @"llvm.prefetch.p0"(ptr %".82", i32 0, i32 3, i32 1)
  %".84" = add i64 12, %"i.2"
  %".85" = getelementptr inbounds float, ptr %".59", i64 %".84"
  call void @"llvm.prefetch.p0"(ptr %".85", i32 0, i32 3, i32 1)
  %".87" = add i64 24, %"i.2"
  %".88" = getelementptr inbounds float, ptr %".59", i64 %".87"
  call void @"llvm.prefetch.p0"(ptr %".88", i32 0, i32 3, i32 1)
  %".90" = add i64 36, %"i.2"
  %".91" = getelementptr inbounds float, ptr %".59", i64 %".90"
  call void @"llvm.prefetch.p0"(ptr %".91", i32 0, i32 3, i32 1)
  br label %"k"
done.2:
  %".163" = add i64 %"i", 1
  br label %"loop"
k:
  %".94" = phi  i64 [0, %"body.2"], [%".129", %"k.body"]
  %".95" = phi  <16 x float> [splat (float              0x0), %"body.2"], [%".110", %"k.body"]
  %".96" = phi  <16 x float> [splat (float              0x0), %"body.2"], [%".116", %"k.body"]
  %".97" = phi  <16 x float> [splat (float              0x0), %"body.2"], [%".122", %"k.body"]
  %".98" = phi  <16 x float> [splat (float              0x0), %"body.2"], [%".128", %"k.body"]
  %".99" = icmp slt i64 %".94", 8
  br i1 %".99", label %"k.body", label %"k.done"
k.body:
  %".101" = mul i64 %".94", 12
  %".102" = add i64 %".101", %"i.2"
  %".103" = getelementptr inbounds float, ptr %".49", i64 %".102"
  %".104" = load <6 x float>, ptr %".103", align 4
  %".105" = shufflevector <6 x float> %".104", <6 x float> splat (float              0x0), <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6>
  %".106" = getelementptr inbounds float, ptr %".39", i64 %".94"
  %".107" = load float, ptr %".106", align 4
  %".108" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".107", i32 0
  %".109" = shufflevector <16 x float> %".108", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".110" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".109", <16 x float> %".105", <16 x float> %".95")
  %".111" = add i64 16, %".94"
  %".112" = getelementptr inbounds float, ptr %".39", i64 %".111"
  %".113" = load float, ptr %".112", align 4
  %".114" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".113", i32 0
  %".115" = shufflevector <16 x float> %".114", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".116" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".115", <16 x float> %".105", <16 x float> %".96")
  %".117" = add i64 32, %".94"
  %".118" = getelementptr inbounds float, ptr %".39", i64 %".117"
  %".119" = load float, ptr %".118", align 4
  %".120" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".119", i32 0
  %".121" = shufflevector <16 x float> %".120", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".122" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".121", <16 x float> %".105", <16 x float> %".97")
  %".123" = add i64 48, %".94"
  %".124" = getelementptr inbounds float, ptr %".39", i64 %".123"
  %".125" = load float, ptr %".124", align 4
  %".126" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".125", i32 0
  %".127" = shufflevector <16 x float> %".126", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".128" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".127", <16 x float> %".105", <16 x float> %".98")
  %".129" = add i64 %".94", 1
  br label %"k"
k.done:
  %".131" = getelementptr inbounds float, ptr %".59", i64 %"i.2"
  %".132" = load <6 x float>, ptr %".131", align 4
  %".133" = shufflevector <6 x float> %".132", <6 x float> splat (float              0x0), <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6>
  %".134" = fadd <16 x float> %".133", %".95"
  %".135" = getelementptr inbounds float, ptr %".59", i64 %"i.2"
  call void @"llvm.masked.store.v16f32.p0"(<16 x float> %".134", ptr %".135", i32 4, <16 x i1> <i1 1, i1 1, i1 1, i1 1, i1 1, i1 1, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0>)
  %".137" = add i64 12, %"i.2"
  %".138" = getelementptr inbounds float, ptr %".59", i64 %".137"
  %".139" = load <6 x float>, ptr %".138", align 4
  %".140" = shufflevector <6 x float> %".139", <6 x float> splat (float              0x0), <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6>
  %".141" = fadd <16 x float> %".140", %".96"
  %".142" = add i64 12, %"i.2"
  %".143" = getelementptr inbounds float, ptr %".59", i64 %".142"
  call void @"llvm.masked.store.v16f32.p0"(<16 x float> %".141", ptr %".143", i32 4, <16 x i1> <i1 1, i1 1, i1 1, i1 1, i1 1, i1 1, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0>)
  %".145" = add i64 24, %"i.2"
  %".146" = getelementptr inbounds float, ptr %".59", i64 %".145"
  %".147" = load <6 x float>, ptr %".146", align 4
  %".148" = shufflevector <6 x float> %".147", <6 x float> splat (float              0x0), <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6>
  %".149" = fadd <16 x float> %".148", %".97"
  %".150" = add i64 24, %"i.2"
  %".151" = getelementptr inbounds float, ptr %".59", i64 %".150"
  call void @"llvm.masked.store.v16f32.p0"(<16 x float> %".149", ptr %".151", i32 4, <16 x i1> <i1 1, i1 1, i1 1, i1 1, i1 1, i1 1, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0>)
  %".153" = add i64 36, %"i.2"
  %".154" = getelementptr inbounds float, ptr %".59", i64 %".153"
  %".155" = load <6 x float>, ptr %".154", align 4
  %".156" = shufflevector <6 x float> %".155", <6 x float> splat (float              0x0), <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6>
  %".157" = fadd <16 x float> %".156", %".98"
  %".158" = add i64 36, %"i.2"
  %".159" = getelementptr inbounds float, ptr %".59", i64 %".158"
  call void @"llvm.masked.store.v16f32.p0"(<16 x float> %".157", ptr %".159", i32 4, <16 x i1> <i1 1, i1 1, i1 1, i1 1, i1 1, i1 1, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0>)
  %".161" = add i64 %"i.2", 6
  br label %"loop.2"
}
